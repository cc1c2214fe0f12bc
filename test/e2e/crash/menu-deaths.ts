import { expect } from "vitest";
import type { SimChat } from "../../../playground/telegram/simulator.ts";
import type { DyingBot } from "./deaths.ts";

const STALE = "This button is no longer in use.";

/** Adds the tests of the shop's menu, a card whose buttons change it. */
export function addMenuDeaths({ asked, rig }: DyingBot): void {
  const until = (condition: () => boolean) => rig().simulator.waitFor(condition);
  const cardOf = (chat: SimChat) =>
    rig()
      .simulator.messages(chat)
      .findLast(({ from }) => from.isBot);
  const labels = (chat: SimChat) =>
    cardOf(chat)
      ?.buttons.flat()
      .map(({ text }) => text);
  const press = (chat: SimChat, user: { id: number }, label: string) =>
    rig().simulator.pressButton(chat, user, cardOf(chat)?.id ?? 0, label);
  const answerTo = (queryId: string) =>
    rig()
      .simulator.callbackAnswers()
      .find((answer) => answer.queryId === queryId && answer.answeredAt);

  asked.it(
    "turns its pages in place, answers every press once, and goes on after a death",
    async ({ die }) => {
      const user = rig().simulator.addUser();
      const chat = rig().simulator.privateChat(user);
      rig().simulator.sendText(chat, user, "/menu");
      await until(() => labels(chat)?.length === 3);
      const cardId = cardOf(chat)?.id;
      const old = cardOf(chat)?.buttons.flat()[0]?.callbackData ?? "";
      expect(new TextEncoder().encode(old).length).toBeLessThanOrEqual(64);

      const first = press(chat, user, "Delivery");
      await until(() => labels(chat)?.join() === "Back to the menu" && answerTo(first.id) !== undefined);
      expect(cardOf(chat)?.text).toContain("Parcels leave us within one working day");
      expect(cardOf(chat)?.id).toBe(cardId);

      let [second, third] = ["", ""];
      await die({ meanwhile: () => void (second = press(chat, user, "Back to the menu").id) });
      await until(() => labels(chat)?.length === 3 && answerTo(second) !== undefined);

      await die({
        async before() {
          third = press(chat, user, "Returns").id;
          await until(() => answerTo(third) !== undefined);
        },
      });
      await until(() => cardOf(chat)?.text.startsWith("Returns") === true);
      // The first page has had this button.
      const late = rig().simulator.pressData(chat, user, cardId ?? 0, old);
      await until(() => answerTo(late.id) !== undefined);
      expect(answerTo(late.id)).toMatchObject({ text: STALE, showAlert: true });
      expect(cardOf(chat)?.text).toMatch(/^Returns/);
      expect(
        rig()
          .simulator.messages(chat)
          .filter(({ from }) => from.isBot).length,
      ).toBe(1);
      const pressed: readonly unknown[] = [first.id, second, third, late.id];
      const answered = rig()
        .simulator.calls({ method: "answerCallbackQuery" })
        .filter(({ outcome }) => outcome === "ok")
        .map(({ payload }) => payload.callback_query_id)
        .filter((id) => pressed.includes(id));
      expect(answered).toEqual(pressed);
    },
  );

  asked.it("finds the conversation of a card in a topic of a forum", async () => {
    const user = rig().simulator.addUser();
    const chat = rig().simulator.addGroup({ title: "Team", forum: true, members: [user] });
    const threadId = rig().simulator.addTopic(chat, "Orders");
    const username = rig().simulator.bot.username ?? "";
    rig().simulator.sendText(chat, user, `/menu@${username}`, { threadId });
    await until(() => labels(chat)?.length === 3);
    const query = press(chat, user, "Opening hours");
    await until(() => answerTo(query.id) !== undefined && labels(chat)?.join() === "Back to the menu");
    expect(cardOf(chat)?.threadId).toBe(threadId);
    expect(cardOf(chat)?.text).toContain("Monday to Friday");
  });
}
