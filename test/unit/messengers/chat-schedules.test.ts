import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { CardPress } from "../../../src/core/chat/card-press.ts";
import type { CardContent, Json } from "../../../src/core/message/content.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { ChatSchedulePresses } from "../../../src/schedules/chat/chat-schedule-presses.ts";
import { ChatSchedules } from "../../../src/schedules/chat/chat-schedules.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { Schedules } from "../../../src/schedules/runs/schedules.ts";
import type { SchedulesObject } from "../../../src/schedules/rules/bot-methods.ts";
import type { ChatScheduleOptions } from "../../../src/schedules/rules/chat-schedule.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const START = Date.parse("2026-11-22T12:00:00Z");
const ADDRESS = { messengerId: "any", threadId: "any:1", chatId: "1", isDirectMessage: true };
const PLACE = { person: { userId: "ada" }, address: ADDRESS };

/** The schedules of a chat on a machine that takes a millisecond for each look at the clock. */
function createRig(zone: { known?: string } = { known: "UTC" }, settings: ChatScheduleOptions | true = true) {
  const database = createNodeDatabase();
  const log = createLog(() => {});
  let now = START;
  const timers = createVirtualClock(START);
  const clock: Clock = {
    now: () => (now += 1),
    setTimeout: (callback, delayMs) => timers.setTimeout(callback, delayMs),
    clearTimeout: (timer) => timers.clearTimeout(timer),
  };
  const deps = { clock, newId: () => "id", random: () => 0 };
  const cards: string[] = [];
  const answered = new Set<string>();
  const schedules: Schedules = new Schedules({
    database,
    deps,
    log,
    allTasks: () => chat.tasks(),
    run: () => Promise.reject(new Error("Nothing runs here.")),
    tellOwner: () => Promise.resolve({ kind: "told" }),
    onChange: () => {},
  });
  const host = {
    agent: { chatSchedules: settings, getDefaultTimezone: () => undefined },
    database,
    deps,
    objects: {
      root: () => ({
        zoneOfPerson: () => Promise.resolve(zone.known),
        rememberZone: (_person: unknown, name: string) => {
          zone.known = name;
          return Promise.resolve();
        },
      }),
    },
    thread: {
      postCard: (_id: string, _address: unknown, { text }: CardContent) => void cards.push(text),
      cards: {
        revise: (id: string) => void answered.add(id),
        store: { read: (id: string) => (answered.has(id) ? { buttons: [] } : undefined) },
      },
    },
  } as unknown as SchedulesObject;
  const chat = new ChatSchedules({ host, log, schedules });
  const presses = new ChatSchedulePresses(host, chat);
  return { cards, chat, now: () => now, presses, schedules };
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

describe("for a person whose time zone is not known, a schedule", () => {
  it.each([
    ["in 20 minutes", "Next: in 20 minutes"],
    ["in 2 hours", "Next: in 2 hours"],
    [at(START + 3 * 3_600_000), "Next: in 3 hours"],
    ["at 2026-11-22T15:00:00+02:00", "Next: in 60 minutes"],
    ["every week on monday at 13:00 in Europe/Berlin", "Next: in 24 hours, in 8 days, in 15 days"],
    ["every 2 hours", "Next: in 2 hours, in 4 hours, in 6 hours"],
  ])("is made without a question if its time does not depend on the zone: %s", async (when, next) => {
    const { cards, chat } = createRig({});
    const made = await chat.make({ kind: "reminder", text: "Tea", when }, PLACE, undefined, "card");
    expect(made.kind).toBe("done");
    expect(cards).toEqual([`I'll remind you: Tea\n\n${next}`]);
  });

  it.each(["tomorrow at 09:00", "every day at 09:00", "at 2026-12-24T18:00", "cron 0 9 * * *"])(
    "waits for the zone if its time depends on it: %s",
    async (when) => {
      const { cards, chat, schedules } = createRig({});
      const made = await chat.make({ kind: "reminder", text: "Tea", when }, PLACE, undefined, "card");
      expect(made.kind).toBe("zone-asked");
      expect(cards).toEqual([expect.stringContaining("Which time zone are you in?")]);
      expect(schedules.nextWakeAt()).toBeUndefined();
    },
  );

  it("is not moved to a time of an unknown zone, and shows times once the zone is known", async () => {
    const zone: { known?: string } = {};
    const { chat, schedules } = createRig(zone);
    await chat.make({ kind: "reminder", text: "Tea", when: "in 2 hours" }, PLACE, undefined, "card");
    const refused = await chat.change("#1", { when: "tomorrow at 09:00" }, PLACE);
    expect(refused).toMatchObject({ kind: "refused", why: expect.stringContaining("time zone") as string });
    expect(chat.listCard(undefined).text).toContain("Next: in 2 hours");
    zone.known = "Europe/Berlin";
    expect((await chat.change("#1", { when: "tomorrow at 09:00" }, PLACE)).kind).toBe("done");
    expect(schedules.nextWakeAt()).toBe(Date.parse("2026-11-23T08:00:00Z"));
    expect(chat.listCard(undefined).text).toContain("Next: Mon 2026-11-23 09:00 (Europe/Berlin)");
  });
});

describe("a second press of a card, begun before the first one has ended,", () => {
  const pressOf = (payload: Json, userId: string, isDirectMessage: boolean): CardPress => {
    const chat = { id: "any:1", chatId: "1", isDirectMessage };
    const event = { messengerId: "any", thread: chat } as unknown as MessengerEvent;
    return { cardId: "card", payload, label: "", person: { userId }, chat, isTyped: false, event };
  };

  it("makes no second schedule when a time zone is chosen", async () => {
    const { chat, presses } = createRig({});
    const request = { kind: "reminder", text: "Tea", when: "tomorrow at 09:00" };
    const press = pressOf({ schedules: "zone", zone: "Europe/Berlin", by: "ada", request }, "ada", true);
    await Promise.all([presses.pressed(press), presses.pressed(press)]);
    expect(chat.list().map(({ schedule }) => schedule.text)).toEqual(["Tea"]);
  });

  it("puts a reminder off once, also while the bot finds out who may", async () => {
    const { chat, presses } = createRig({ known: "UTC" }, { mayManage: () => Promise.resolve(true) });
    const place = { ...PLACE, address: { ...ADDRESS, isDirectMessage: false } };
    await chat.make({ kind: "reminder", text: "Tea", when: "in 2 hours" }, place, undefined, "made");
    const later = (put: string, userId: string): CardPress =>
      pressOf({ schedules: "reminder", do: put, id: "#1", key: "1" }, userId, false);
    await Promise.all([presses.pressed(later("10m", "bob")), presses.pressed(later("1h", "eve"))]);
    expect(chat.list()).toHaveLength(2);
  });
});

it("lets nobody of another chat, or of another messenger with the same user id, change a private schedule", async () => {
  const { chat } = createRig();
  await chat.make({ kind: "reminder", text: "Tea", when: "in 2 hours" }, PLACE, undefined, "made");
  const group = { messengerId: "any", threadId: "any:9", chatId: "9", isDirectMessage: false };
  const elsewhere = { messengerId: "other", threadId: "other:1", chatId: "1", isDirectMessage: true };
  const strangers = [
    { person: { userId: "eve" }, address: group },
    { person: { userId: "ada" }, address: elsewhere },
  ];
  for (const place of strangers)
    expect(await chat.manage("#1", "delete", place)).toMatchObject({ kind: "refused" });
  const own = [{ person: { userId: "ada" }, address: group }, PLACE];
  for (const place of own) expect(await chat.manage("#1", "pause", place)).toMatchObject({ kind: "done" });
});
