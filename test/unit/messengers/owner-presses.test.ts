import { expect, it } from "vitest";
import { sayEnglish } from "../../../src/core/text/bot-texts.ts";
import type { CardContent } from "../../../src/core/message/content.ts";
import { OwnerPresses } from "../../../src/schedules/chat/owner-presses.ts";

const OWNER = { userId: "ada" };
const CHAT = { id: "fake:ada", chatId: "ada", isDirectMessage: true };

it("does not say that a task stays stopped if it was resumed while its runs ended", async () => {
  let isPaused = true;
  const cards: CardContent[] = [];
  const host = {
    agent: {},
    thread: { cards: { revise: (_id: string, card: CardContent) => void cards.push(card) } },
  };
  const presses = new OwnerPresses(host as never, {
    schedules: {
      tasks: { get: () => ({ id: "digest" }), isPaused: () => isPaused } as never,
      runNow: () => undefined,
    },
    start: async () => {},
    endRuns: async () => {
      isPaused = false;
    },
  });
  const answer = await presses.pressed({
    cardId: "schedule:paused:1",
    payload: { task: "digest", do: "delete" },
    label: "Delete",
    person: OWNER,
    chat: CHAT,
    isTyped: false,
    event: {} as never,
  });
  expect(answer).toEqual({ text: sayEnglish("taskNotPaused"), alert: true });
  expect(cards).toEqual([]);
});
