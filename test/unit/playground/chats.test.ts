import type { Api } from "grammy";
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { apiOf } from "./echo-bot.ts";

let simulator: Simulator;
let api: Api;
let alice: User;
let bob: User;
let chat: SimChat;

beforeEach(async () => {
  simulator = await startSimulator();
  api = apiOf(simulator);
  alice = simulator.addUser({ first_name: "Alice" });
  bob = simulator.addUser({ first_name: "Bob", username: "bob" });
  chat = simulator.privateChat(alice);
});
afterEach(() => simulator.close());

/** The commands that a person's client offers in a chat. */
async function offeredTo(user: User, place: SimChat): Promise<string[]> {
  const query = new URLSearchParams({ chatId: String(place.id), userId: String(user.id) });
  const answer = await fetch(`${simulator.url}/_sim/commands?${query.toString()}`);
  const { commands } = (await answer.json()) as { commands: { command: string }[] };
  return commands.map(({ command }) => command);
}

describe("message ids", () => {
  it("grow by one across all private chats and basic groups, people's messages included", async () => {
    const other = simulator.privateChat(bob);
    const group = simulator.addGroup({ title: "Group", type: "group", members: [alice, bob] });
    const start = simulator.sendText(chat, alice, "1").message_id;
    expect((await api.sendMessage(other.id, "2")).message_id).toBe(start + 1);
    expect(simulator.sendText(group, bob, "3").message_id).toBe(start + 2);
    expect((await api.sendMessage(chat.id, "4")).message_id).toBe(start + 3);
  });

  it("grow on their own in each supergroup", async () => {
    const first = simulator.addGroup({ title: "One", members: [alice] });
    const second = simulator.addGroup({ title: "Two", members: [alice] });
    const id = simulator.sendText(first, alice, "a").message_id;
    simulator.sendText(chat, alice, "between");
    expect((await api.sendMessage(first.id, "b")).message_id).toBe(id + 1);
    expect(simulator.sendText(second, alice, "a").message_id).toBe(id);
  });
});

describe("people who leave", () => {
  it("make sending impossible by blocking, and possible again by writing", async () => {
    simulator.blockBot(alice);
    await expect(api.sendMessage(chat.id, "x")).rejects.toThrow(
      "403: Forbidden: bot was blocked by the user",
    );
    simulator.sendText(chat, alice, "Hello again");
    await api.sendMessage(chat.id, "x");
    expect(simulator.updates().map((record) => record.kind)).toEqual([
      "my_chat_member",
      "my_chat_member",
      "message",
    ]);
  });

  it("make sending impossible by removing the bot", async () => {
    const group = simulator.addGroup({ title: "G", type: "group", members: [alice] });
    const supergroup = simulator.addGroup({ title: "S", members: [alice] });
    simulator.kickBot(group);
    simulator.kickBot(supergroup);
    await expect(api.sendMessage(group.id, "x")).rejects.toThrow(
      "403: Forbidden: bot was kicked from the group chat",
    );
    await expect(api.sendMessage(supergroup.id, "x")).rejects.toThrow(
      "403: Forbidden: bot was kicked from the supergroup chat",
    );
    const updates = simulator.updates().length;
    simulator.sendText(group, alice, "Nobody hears this");
    expect(simulator.updates()).toHaveLength(updates);
    simulator.readmitBot(group);
    await api.sendMessage(group.id, "x");
  });

  it("cannot be written to before they ever wrote", async () => {
    await expect(api.sendMessage(bob.id, "x")).rejects.toThrow(
      "403: Forbidden: bot can't initiate conversation with a user",
    );
  });
});

describe("topics", () => {
  it("keep messages apart, and General has no number", async () => {
    const forum = simulator.addGroup({ title: "F", forum: true, members: [alice] });
    const topic = simulator.addTopic(forum, "Returns");
    const inTopic = simulator.sendText(forum, alice, "a", { threadId: topic });
    const inGeneral = simulator.sendText(forum, alice, "b");
    expect(inTopic).toMatchObject({
      message_thread_id: topic,
      is_topic_message: true,
      reply_to_message: { message_id: topic, forum_topic_created: { name: "Returns" } },
    });
    expect(inGeneral.message_thread_id).toBeUndefined();
    const answer = await api.sendMessage(forum.id, "c", { message_thread_id: topic });
    expect(answer).toMatchObject({ message_thread_id: topic, is_topic_message: true });
    expect(simulator.messages(forum, { threadId: topic }).map((message) => message.text)).toEqual([
      "",
      "a",
      "c",
    ]);
  });

  it("refuse messages of a bot that is no administrator while they are closed", async () => {
    const forum = simulator.addGroup({ title: "F", forum: true, members: [alice] });
    const topic = simulator.addTopic(forum, "Returns");
    const more = { message_thread_id: topic };
    const { message_id } = await api.sendMessage(forum.id, "before", more);
    simulator.closeTopic(forum, topic);
    await expect(api.sendMessage(forum.id, "while", more)).rejects.toThrow("400: Bad Request: TOPIC_CLOSED");
    await api.sendChatAction(forum.id, "typing", more);
    await api.editMessageText(forum.id, message_id, "edited");
    simulator.reopenTopic(forum, topic);
    await api.sendMessage(forum.id, "after", more);
    const messages = simulator.messages(forum, { threadId: topic });
    expect(messages.map(({ service, text }) => service ?? text)).toEqual([
      "forum_topic_created",
      "edited",
      "forum_topic_closed",
      "forum_topic_reopened",
      "after",
    ]);
  });

  it("refuse an unknown one and General's own number, except for typing", async () => {
    const forum = simulator.addGroup({ title: "F", forum: true, members: [alice] });
    for (const message_thread_id of [1, 999]) {
      await expect(api.sendMessage(forum.id, "x", { message_thread_id })).rejects.toThrow(
        "400: Bad Request: message thread not found",
      );
    }
    await api.sendChatAction(forum.id, "typing", { message_thread_id: 1 });
    expect(simulator.typing(forum)).toBe(true);
  });

  it("are ignored where there are none", async () => {
    const group = simulator.addGroup({ title: "S", members: [alice] });
    const message = await api.sendMessage(group.id, "x", { message_thread_id: 55 });
    expect(message.message_thread_id).toBeUndefined();
  });

  it("are entered by an answer to one of their messages", async () => {
    const forum = simulator.addGroup({ title: "F", forum: true, members: [alice] });
    const topic = simulator.addTopic(forum, "Returns");
    const { message_id } = simulator.sendText(forum, alice, "a", { threadId: topic });
    const answer = await api.sendMessage(forum.id, "c", { reply_parameters: { message_id } });
    expect(answer.message_thread_id).toBe(topic);
  });
});

describe("replies", () => {
  it("show what they answer, and refuse what is not there unless told otherwise", async () => {
    const { message_id } = simulator.sendText(chat, alice, "Question");
    const answer = await api.sendMessage(chat.id, "Answer", { reply_parameters: { message_id } });
    expect(answer.reply_to_message).toMatchObject({ message_id, text: "Question" });
    const missing = { message_id: 9999 };
    await expect(api.sendMessage(chat.id, "x", { reply_parameters: missing })).rejects.toThrow(
      "400: Bad Request: message to be replied not found",
    );
    const sent = await api.sendMessage(chat.id, "x", {
      reply_parameters: { ...missing, allow_sending_without_reply: true },
    });
    expect(sent.reply_to_message).toBeUndefined();
  });

  it("carry their thread's first message in a plain supergroup", () => {
    const group = simulator.addGroup({ title: "S", members: [alice] });
    const first = simulator.sendText(group, alice, "a");
    const second = simulator.sendText(group, alice, "b", { replyTo: first.message_id });
    const third = simulator.sendText(group, alice, "c", { replyTo: second.message_id });
    expect(third.message_thread_id).toBe(first.message_id);
    expect(third.is_topic_message).toBeUndefined();
  });
});

describe("service messages", () => {
  it("say in plain words what happened", async () => {
    const group = simulator.addGroup({ title: "Crew", members: [alice], forum: true });
    simulator.join(group, bob);
    simulator.addTopic(group, "Returns");
    simulator.changeTitle(group, alice, "Shop crew");
    const { message_id } = simulator.sendText(group, alice, "Rules: be kind");
    simulator.pin(group, alice, message_id);
    simulator.leave(group, bob);
    const said = simulator.messages(group).flatMap(({ serviceText }) => serviceText ?? []);
    expect(said).toEqual([
      expect.stringMatching(/^Alice added /),
      "Bob joined",
      "Alice opened the topic “Returns”",
      "Alice named the group “Shop crew”",
      "Alice pinned “Rules: be kind”",
      "Bob left",
    ]);
  });
});

describe("other methods", () => {
  it("set and read commands by scope", async () => {
    const commands = [{ command: "start", description: "Begin" }];
    await api.setMyCommands(commands);
    await api.setMyCommands([], { scope: { type: "all_private_chats" } });
    expect(await api.getMyCommands()).toEqual(commands);
    expect(await api.getMyCommands({ scope: { type: "all_private_chats" } })).toEqual([]);
    await expect(api.setMyCommands([{ command: "No spaces", description: "x" }])).rejects.toThrow(
      "BOT_COMMAND_INVALID",
    );
  });

  it("offer in a chat the commands of its narrowest scope that has some", async () => {
    const group = simulator.addGroup({ title: "S", members: [alice] });
    const offered = async () => {
      return { inPrivate: await offeredTo(alice, chat), inGroup: await offeredTo(alice, group) };
    };
    const list = (command: string) => [{ command, description: "x" }];
    expect(await offered()).toEqual({ inPrivate: [], inGroup: [] });
    await api.setMyCommands(list("any"));
    await api.setMyCommands(list("german"), { language_code: "de", scope: { type: "all_private_chats" } });
    expect(await offered()).toEqual({ inPrivate: ["any"], inGroup: ["any"] });
    await api.setMyCommands(list("alone"), { scope: { type: "all_private_chats" } });
    expect(await offered()).toEqual({ inPrivate: ["alone"], inGroup: ["any"] });
    await api.setMyCommands(list("here"), { scope: { type: "chat", chat_id: group.id } });
    await api.setMyCommands([], { scope: { type: "all_private_chats" } });
    expect(await offered()).toEqual({ inPrivate: ["any"], inGroup: ["here"] });
  });

  it("offer a person in a group their own commands, in their language, and none of a bot that has gone", async () => {
    const dora = simulator.addUser({ first_name: "Dora", language_code: "de-AT" });
    const group = simulator.addGroup({ title: "S", members: [alice, bob, dora] });
    const set = (command: string, scope: Parameters<Api["setMyCommands"]>[1]) =>
      api.setMyCommands([{ command, description: "x" }], scope);
    const offered = async () =>
      (await Promise.all([alice, bob, dora].map((one) => offeredTo(one, group)))).map(([name]) => name);
    await set("groups", { scope: { type: "all_group_chats" } });
    await set("gruppen", { scope: { type: "all_group_chats" }, language_code: "de" });
    expect(await offered()).toEqual(["groups", "groups", "gruppen"]);
    await set("admins", { scope: { type: "all_chat_administrators" } });
    await set("bobs", { scope: { type: "chat_member", chat_id: group.id, user_id: bob.id } });
    expect(await offered()).toEqual(["groups", "bobs", "gruppen"]);
    await set("here", { scope: { type: "chat", chat_id: group.id } });
    expect(await offered()).toEqual(["here", "bobs", "here"]);
    expect(await offeredTo(dora, simulator.privateChat(dora))).toEqual([]);
    simulator.kickBot(group);
    expect(await offered()).toEqual([undefined, undefined, undefined]);
  });

  it("react with what is allowed", async () => {
    const { message_id } = simulator.sendText(chat, alice, "a");
    await api.setMessageReaction(chat.id, message_id, [{ type: "emoji", emoji: "👍" }]);
    expect(simulator.messages(chat)[0]?.reactions).toEqual([{ userId: simulator.bot.id, emoji: "👍" }]);
    await expect(
      api.setMessageReaction(chat.id, message_id, [{ type: "emoji", emoji: "🧇" as "👍" }]),
    ).rejects.toThrow("REACTION_INVALID");
  });

  it("pin in private chats, and in groups only as administrator", async () => {
    const group = simulator.addGroup({ title: "S", members: [alice] });
    const inGroup = simulator.sendText(group, alice, "a");
    const inPrivate = simulator.sendText(chat, alice, "a");
    await api.pinChatMessage(chat.id, inPrivate.message_id);
    expect(simulator.updates().at(-1)?.update.message?.pinned_message?.message_id).toBe(inPrivate.message_id);
    await expect(api.pinChatMessage(group.id, inGroup.message_id)).rejects.toThrow("not enough rights");
  });

  it("tell who is in a chat", async () => {
    const group = simulator.addGroup({ title: "S", members: [alice] });
    expect(await api.getChat(group.id)).toMatchObject({ type: "supergroup", title: "S" });
    expect(await api.getChatMember(group.id, alice.id)).toMatchObject({
      status: "member",
      user: { id: alice.id },
    });
    expect(await api.getChatMember(group.id, bob.id)).toMatchObject({ status: "left" });
    await api.leaveChat(group.id);
    await expect(api.sendMessage(group.id, "x")).rejects.toThrow(
      "bot is not a member of the supergroup chat",
    );
  });
});
