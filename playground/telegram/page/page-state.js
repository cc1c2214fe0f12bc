import { toast } from "./dialogs.js";
import { byId } from "./dom.js";

/** The simulator's latest answers, and the open chat. */
export const page = {
  state: { users: [], chats: [], faults: [], webhook: {}, bot: {} },
  open: { chatId: undefined, threadId: undefined },
};

export const onError = (error) => toast(error.message, "bad");
export const nameOf = (user) => [user.first_name, user.last_name].filter(Boolean).join(" ");
export const openChat = () => page.state.chats.find((chat) => chat.id === page.open.chatId);
export const titleOf = (chat) => chat.title ?? nameOf(userOf(chat.id) ?? { first_name: "Unknown" });

export function userOf(id) {
  return id === page.state.bot.id ? page.state.bot : page.state.users.find((user) => user.id === id);
}

/** Returns the id of the person who writes in this chat. In a group, the page's user chooses. */
export function writerId(chat) {
  return chat.type === "private" ? chat.id : Number(byId("writer").value || chat.members[0]);
}
