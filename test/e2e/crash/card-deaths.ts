import { expect } from "vitest";
import type { SimChat } from "../../../playground/telegram/simulator.ts";
import type { DyingBot } from "./deaths.ts";

const INTERRUPTED = "I was interrupted. Please check whether it worked before you try again.";

/** Adds the deaths around cards and presses. */
export function addCardDeaths({ asked, rig }: DyingBot): void {
  const until = (condition: () => boolean) => rig().simulator.waitFor(condition);
  const fromBot = (chat: SimChat) =>
    rig()
      .simulator.messages(chat)
      .filter(({ from }) => from.isBot);
  const labels = (chat: SimChat) =>
    fromBot(chat)
      .at(-1)
      ?.buttons.flat()
      .map(({ text }) => text)
      .join();
  const MENU = "Delivery,Returns,Opening hours";
  const BACK = "Back to the menu";
  const newChat = () => {
    const user = rig().simulator.addUser();
    return { user, chat: rig().simulator.privateChat(user) };
  };
  const press = (chat: SimChat, user: { id: number }, label: string) =>
    rig().simulator.pressButton(chat, user, fromBot(chat).at(-1)?.id ?? 0, label);
  const answersTo = (queryId: string) =>
    rig()
      .simulator.callbackAnswers()
      .filter((answer) => answer.queryId === queryId && answer.answeredAt);
  const calls = (method: string, chat: SimChat) => rig().simulator.calls({ method, chatId: chat.id }).length;
  /** Holds the answer to a press. Resolves when the bot gives it. */
  const holdAnswer = async (queryId: string) => {
    const isAbout = (call: { readonly payload: Record<string, unknown> }) =>
      call.payload["callback_query_id"] === queryId;
    const method = "answerCallbackQuery";
    rig().simulator.fault({ method, kind: "hang", processed: false, when: isAbout });
    await until(() => rig().simulator.calls({ method }).some(isAbout));
  };
  const withMenu = async () => {
    const made = newChat();
    rig().simulator.sendText(made.chat, made.user, "/menu");
    await until(() => labels(made.chat) === MENU);
    return made;
  };

  for (const processed of [true, false]) {
    asked.it(`posts a card once that it died over (done: ${processed})`, async ({ die }) => {
      const { chat, user } = newChat();
      rig().simulator.fault({ method: "sendMessage", chatId: chat.id, kind: "hang", processed });
      await die({
        async before() {
          rig().simulator.sendText(chat, user, "/menu");
          await until(() => calls("sendMessage", chat) > 0);
        },
      });
      await until(() => labels(chat) === MENU);
      const query = press(chat, user, "Returns");
      // The search for the lost post brings the new buttons, before the edit brings the text.
      await until(
        () => answersTo(query.id).length > 0 && fromBot(chat)[0]?.text.startsWith("Returns") === true,
      );
      expect(labels(chat)).toBe(BACK);
      expect(fromBot(chat)).toHaveLength(1);
    });

    asked.it(`shows an edit with its buttons that it died over (done: ${processed})`, async ({ die }) => {
      const { chat, user } = await withMenu();
      rig().simulator.fault({ method: "editMessageText", chatId: chat.id, kind: "hang", processed });
      await die({
        async before() {
          const query = press(chat, user, "Delivery");
          await until(() => calls("editMessageText", chat) > 0 && answersTo(query.id).length > 0);
        },
      });
      await until(() => labels(chat) === BACK && fromBot(chat)[0]?.text.startsWith("Delivery") === true);
      expect(fromBot(chat)).toHaveLength(1);
    });
  }

  asked.it("handles a press once whose webhook was never answered", async ({ die }) => {
    const { chat, user } = await withMenu();
    let queryId = "";
    await die({ with: () => void (queryId = press(chat, user, "Delivery").id) });
    await until(() => answersTo(queryId).length > 0);
    // It was handled before the kill, after it, or cut in between, which the person is told then.
    const [answer] = answersTo(queryId);
    if (answer?.text !== INTERRUPTED) await until(() => labels(chat) === BACK);
    expect(answersTo(queryId)).toHaveLength(1);
    expect(fromBot(chat)).toHaveLength(1);
  });

  asked.it("does not handle a press again that it died over, and says so", async ({ die }) => {
    const { chat, user } = await withMenu();
    let queryId = "";
    await die({
      async before() {
        queryId = press(chat, user, "Returns").id;
        await holdAnswer(queryId);
      },
    });
    await until(() => answersTo(queryId).length > 0 && fromBot(chat)[0]?.text.startsWith("Returns") === true);
    expect(answersTo(queryId)).toMatchObject([{ text: INTERRUPTED, showAlert: true }]);
    expect(labels(chat)).toBe(BACK);
    expect(fromBot(chat)).toHaveLength(1);
  });

  for (const moment of ["at once", "when it is answered"]) {
    asked.it(`hands a press to the conversation of its card, and dies over it ${moment}`, async ({ die }) => {
      const user = rig().simulator.addUser();
      const chat = rig().simulator.addGroup({ title: "Team", forum: true, members: [user] });
      const threadId = rig().simulator.addTopic(chat, "Orders");
      rig().simulator.sendText(chat, user, `/menu@${rig().simulator.bot.username ?? ""}`, { threadId });
      await until(() => labels(chat) === MENU);
      const isLate = moment === "when it is answered";
      let queryId = "";
      const pressIt = () => void (queryId = press(chat, user, "Opening hours").id);
      const pressAndHold = async () => {
        pressIt();
        await holdAnswer(queryId);
      };
      await die(isLate ? { before: pressAndHold } : { with: pressIt });
      await until(() => answersTo(queryId).length > 0);
      const [answer] = answersTo(queryId);
      if (isLate) expect(answer).toMatchObject({ text: INTERRUPTED });
      if (isLate || answer?.text !== INTERRUPTED) await until(() => labels(chat) === BACK);
      expect(answersTo(queryId)).toHaveLength(1);
      expect(fromBot(chat)).toHaveLength(1);
      expect(fromBot(chat)[0]?.threadId).toBe(threadId);
    });
  }

  asked.it("tells Telegram the menu of commands once, and not again after it died", async ({ die }) => {
    const { chat, user } = await withMenu();
    const told = () => rig().simulator.calls({ method: "setMyCommands" });
    await until(() => told().length > 1);
    await die();
    rig().simulator.sendText(chat, user, "/menu");
    await until(() => fromBot(chat).length === 2);
    expect(told()).toHaveLength(2);
    expect(JSON.stringify(told()[0]?.payload)).toMatch(/"command":"stop".*all_private_chats/);
    expect(JSON.stringify(told()[1]?.payload)).toMatch(/"command":"stop".*all_group_chats/);
  });
}
