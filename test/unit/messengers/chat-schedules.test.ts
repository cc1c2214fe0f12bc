import { expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { CardContent } from "../../../src/core/content.ts";
import { createLog } from "../../../src/core/log.ts";
import { ChatSchedules } from "../../../src/messengers/agent/chat-schedules.ts";
import { Schedules } from "../../../src/schedules/index.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const START = Date.parse("2026-11-22T12:00:00Z");
const ADDRESS = { messengerId: "any", threadId: "any:1", chatId: "1", isDirectMessage: true };
const PLACE = { person: { userId: "ada" }, address: ADDRESS };

/** The schedules of a chat on a machine that takes a millisecond for each look at the clock. */
function createRig() {
  const database = createNodeDatabase();
  const log = createLog(() => {});
  let now = START;
  const clock = { ...createVirtualClock(START), now: () => (now += 1) };
  const deps = { clock, newId: () => "id", random: () => 0 };
  const cards: string[] = [];
  const chat: ChatSchedules = new ChatSchedules({
    database,
    deps,
    log,
    settings: () => true,
    defaultZone: () => "UTC",
    schedules: () => schedules,
    root: () => {
      throw new Error("The root is not asked.");
    },
    texts: () => ({}),
    post: (_id, _address, content: CardContent) => void cards.push(content.text),
    revise: () => {},
  });
  const schedules: Schedules = new Schedules({
    database,
    deps,
    log,
    tasks: () => chat.tasks(),
    run: () => Promise.reject(new Error("Nothing runs here.")),
    tellOwner: () => Promise.resolve(),
    onChange: () => {},
  });
  return { cards, chat, now: () => now, schedules };
}

const at = (moment: number): string => `at ${new Date(moment).toISOString()}`;

it("never confirms a reminder that will not come, however close its time is", async () => {
  const confirmed = new Set<boolean>();
  for (let ms = 1; ms < 60; ms += 1) {
    const { cards, chat, schedules } = createRig();
    const request = { kind: "reminder", text: "Tea", when: at(START + ms) } as const;
    const made = await chat.make(request, PLACE, undefined, "card");
    const isDone = made.kind === "done";
    expect(schedules.nextWakeAt()).toBe(isDone ? START + ms : undefined);
    expect(cards).toHaveLength(isDone ? 1 : 0);
    for (const card of cards) expect(card).toContain("Next: ");
    confirmed.add(isDone);
  }
  expect(confirmed).toEqual(new Set([true, false]));
});

it("never confirms a new time that will not come, however close it is", async () => {
  const changed = new Set<boolean>();
  for (let ms = 1; ms < 120; ms += 1) {
    const { chat, schedules } = createRig();
    const request = { kind: "reminder", text: "Tea", when: at(START + 3_600_000) } as const;
    const made = await chat.make(request, PLACE, undefined, "card");
    if (made.kind !== "done") throw new Error("The reminder was not made.");
    const id = made.shown?.schedule.id ?? "";
    const { kind } = await chat.change(id, { when: at(START + ms) }, PLACE);
    const isDone = kind === "done";
    expect(schedules.nextWakeAt()).toBe(isDone ? START + ms : START + 3_600_000);
    changed.add(isDone);
  }
  expect(changed).toEqual(new Set([true, false]));
});
