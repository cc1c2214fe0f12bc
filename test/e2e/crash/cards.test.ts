import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SimChat } from "../../../playground/telegram/simulator.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";

const INTERRUPTED = "I was interrupted. Please check whether it worked before you try again.";

describe("SIGKILL around cards and presses", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await startRig({ simulator: { redelivery: { baseMs: 100, maxMs: 500 } } });
  });
  afterAll(async () => {
    await rig.close();
  });

  const until = (condition: () => boolean) => rig.simulator.waitFor(condition);
  const fromBot = (chat: SimChat) => rig.simulator.messages(chat).filter(({ from }) => from.isBot);
  const labels = (chat: SimChat) =>
    fromBot(chat)
      .at(-1)
      ?.buttons.flat()
      .map(({ text }) => text)
      .join();
  const MENU = "Delivery,Returns,Opening hours";
  const BACK = "Back to the menu";
  const newChat = () => {
    const user = rig.simulator.addUser();
    return { user, chat: rig.simulator.privateChat(user) };
  };
  const press = (chat: SimChat, user: { id: number }, label: string) =>
    rig.simulator.pressButton(chat, user, fromBot(chat).at(-1)?.id ?? 0, label);
  const answersTo = (queryId: string) =>
    rig.simulator.callbackAnswers().filter((answer) => answer.queryId === queryId && answer.answeredAt);
  const calls = (method: string, chat: SimChat) => rig.simulator.calls({ method, chatId: chat.id }).length;
  const dieAndComeBack = async () => {
    rig.simulator.clearFaults();
    await rig.bot.kill("SIGKILL");
    await rig.bot.restart();
  };
  const withMenu = async () => {
    const made = newChat();
    rig.simulator.sendText(made.chat, made.user, "/menu");
    await until(() => labels(made.chat) === MENU);
    return made;
  };

  it.each([true, false])("posts a card once that it died over (done: %s)", async (processed) => {
    const { chat, user } = newChat();
    rig.simulator.fault({ method: "sendMessage", chatId: chat.id, kind: "hang", processed });
    rig.simulator.sendText(chat, user, "/menu");
    await until(() => calls("sendMessage", chat) > 0);
    await dieAndComeBack();
    await until(() => labels(chat) === MENU);
    const query = press(chat, user, "Returns");
    // The search for the lost post brings the new buttons, before the edit brings the text.
    await until(
      () => answersTo(query.id).length > 0 && fromBot(chat)[0]?.text.startsWith("Returns") === true,
    );
    expect(labels(chat)).toBe(BACK);
    expect(fromBot(chat)).toHaveLength(1);
  });

  it.each([true, false])("shows an edit with its buttons that it died over (done: %s)", async (processed) => {
    const { chat, user } = await withMenu();
    rig.simulator.fault({ method: "editMessageText", chatId: chat.id, kind: "hang", processed });
    const query = press(chat, user, "Delivery");
    await until(() => calls("editMessageText", chat) > 0 && answersTo(query.id).length > 0);
    await dieAndComeBack();
    await until(() => labels(chat) === BACK && fromBot(chat)[0]?.text.startsWith("Delivery") === true);
    expect(fromBot(chat)).toHaveLength(1);
  });

  it("handles a press once whose webhook was never answered", async () => {
    const { chat, user } = await withMenu();
    const query = press(chat, user, "Delivery");
    await dieAndComeBack();
    await until(() => answersTo(query.id).length > 0);
    // It was handled before the kill, after it, or cut in between, which the person is told then.
    const [answer] = answersTo(query.id);
    if (answer?.text !== INTERRUPTED) await until(() => labels(chat) === BACK);
    expect(answersTo(query.id)).toHaveLength(1);
    expect(fromBot(chat)).toHaveLength(1);
  });

  it("does not handle a press again that it died over, and says so", async () => {
    const { chat, user } = await withMenu();
    rig.simulator.fault({ method: "answerCallbackQuery", kind: "hang", processed: false });
    const query = press(chat, user, "Returns");
    await until(() => rig.simulator.calls({ method: "answerCallbackQuery" }).some(isAbout(query.id)));
    await dieAndComeBack();
    await until(
      () => answersTo(query.id).length > 0 && fromBot(chat)[0]?.text.startsWith("Returns") === true,
    );
    expect(answersTo(query.id)).toMatchObject([{ text: INTERRUPTED, showAlert: true }]);
    expect(labels(chat)).toBe(BACK);
    expect(fromBot(chat)).toHaveLength(1);
  });

  it.each(["at once", "when it is answered"])(
    "hands a press to the conversation of its card, and dies over it %s",
    async (moment) => {
      const user = rig.simulator.addUser();
      const chat = rig.simulator.addGroup({ title: "Team", forum: true, members: [user] });
      const threadId = rig.simulator.addTopic(chat, "Orders");
      rig.simulator.sendText(chat, user, `/menu@${rig.simulator.bot.username ?? ""}`, { threadId });
      await until(() => labels(chat) === MENU);
      const isLate = moment === "when it is answered";
      if (isLate) rig.simulator.fault({ method: "answerCallbackQuery", kind: "hang", processed: false });
      const query = press(chat, user, "Opening hours");
      if (isLate)
        await until(() => rig.simulator.calls({ method: "answerCallbackQuery" }).some(isAbout(query.id)));
      await dieAndComeBack();
      await until(() => answersTo(query.id).length > 0);
      const [answer] = answersTo(query.id);
      if (isLate) expect(answer).toMatchObject({ text: INTERRUPTED });
      if (isLate || answer?.text !== INTERRUPTED) await until(() => labels(chat) === BACK);
      expect(answersTo(query.id)).toHaveLength(1);
      expect(fromBot(chat)).toHaveLength(1);
      expect(fromBot(chat)[0]?.threadId).toBe(threadId);
    },
  );
});

function isAbout(queryId: string): (call: { payload: Record<string, unknown> }) => boolean {
  return ({ payload }) => payload["callback_query_id"] === queryId;
}
