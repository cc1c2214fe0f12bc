import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { callTool, holdAt, say, textOf } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

const IN_LONDON = { timezone: "Europe/London" };

/** Calls a tool when the person says "go", and then says what came of it. */
function calls(tool: string, input: object | (() => object)): ModelScript {
  return ({ prompt, said }) => {
    const last = prompt.at(-1);
    if (last?.role !== "tool")
      return /\bgo$/.test(said)
        ? [callTool(tool, typeof input === "function" ? (input as () => object)() : input)]
        : [say("Hm?")];
    return [say(`Result: ${JSON.stringify(last.content)}`)];
  };
}

function create(options: WorldOptions = {}): World {
  return createWorld({ ...options, settings: { chatSchedules: true, ...options.settings } });
}

async function go(world: World, chat = "c1", rest: Parameters<World["write"]>[2] = {}): Promise<string> {
  const before = world.chats.visible(chat).length;
  await world.write(chat, "go", rest);
  return vi.waitFor(
    () => {
      const answer = world.chats
        .visible(chat)
        .slice(before)
        .find((text) => text.startsWith("Result: "));
      if (answer === undefined) throw new Error(JSON.stringify(world.chats.visible(chat)));
      return answer;
    },
    { timeout: 8000, interval: 10 },
  );
}

async function untilShown(world: World, expected: RegExp, chat = "c1"): Promise<void> {
  await vi.waitFor(() => expect(world.chats.visible(chat).some((text) => expected.test(text))).toBe(true), {
    timeout: 8000,
    interval: 10,
  });
}

function soon(ms = 300): string {
  return `at ${new Date(Date.now() + ms).toISOString()}`;
}

describe("a reminder", () => {
  it("is confirmed with its next occurrences in the person's zone", async () => {
    const world = create();
    world.script(calls("remind_me", { text: "Water the plants", when: "every day at 09:00", ...IN_LONDON }));
    await go(world);
    expect(world.requests[0]?.tools).toContain("remind_me");
    await untilShown(
      world,
      /^I'll remind you: Water the plants\n\nNext: (?:\w{3} \d{4}-\d\d-\d\d 09:00, ){2}\w{3} \d{4}-\d\d-\d\d 09:00 \(Europe\/London\)$/,
    );
  });

  it("has its cards and answers in the language of the person", async () => {
    const texts = {
      remindsYou: { en: "I'll remind you: {text}", de: "Ich erinnere dich: {text}" },
      doneButton: { en: "Done", de: "Erledigt" },
      reminderDone: { en: "Done.", de: "Gut gemacht." },
      weekdays: { en: "Sun Mon Tue Wed Thu Fri Sat", de: "So Mo Di Mi Do Fr Sa" },
      noSchedules: { en: "None.", de: "Hier ist nichts geplant." },
    };
    const german = { language: "de" } as const;
    const world = create({ settings: { chatSchedules: true, texts } });
    world.script(calls("remind_me", () => ({ text: "Tea", when: soon(), ...IN_LONDON })));
    await go(world, "c1", german);
    await untilShown(world, /^Ich erinnere dich: Tea\n\nNext: (?:So|Mo|Di|Mi|Do|Fr|Sa) /);
    expect(await world.press("c1", "Erledigt", german)).toBe("Gut gemacht.");
    await world.write("c1", "/schedules", german);
    await untilShown(world, /^Hier ist nichts geplant\./);
    await world.write("c1", "/schedules");
    await untilShown(world, /^None\./);
  });

  it.each([
    ["chat-schedules-invalid", { chatSchedules: { mayManag: () => false } as never }],
    ["text-invalid", { chatSchedules: true, texts: { doneButon: "Erledigt" } as never }],
  ])("names a misspelt setting in /health: %s", async (code, settings) => {
    const { stub } = create({ settings });
    const health = await runInDurableObject(stub, (bot) => bot.inner("healthProblem", []));
    expect(health).toMatchObject({ code, message: expect.stringContaining("Did you mean") });
  });

  it("comes once when it is due, and is answered once", async () => {
    const world = create();
    world.script(calls("remind_me", () => ({ text: "Tea", when: soon(), ...IN_LONDON })));
    await go(world);
    await untilShown(world, /^⏰ Tea$/);
    const done = world.chats.button("c1", "Done") ?? "";
    const later = world.chats.button("c1", "10 min") ?? "";
    expect(await world.pressToken("c1", done)).toBe("Done.");
    await untilShown(world, /^⏰ Tea\n\nDone\.$/);
    expect(await world.pressToken("c1", later)).toBeDefined();
    expect(world.chats.visible("c1").filter((text) => text.startsWith("⏰"))).toEqual(["⏰ Tea\n\nDone."]);
    await vi.waitFor(
      async () =>
        expect(await world.thread("c1").schedules.occurrences()).toMatchObject([
          { taskId: "#1", state: "delivered", deliveries: [{ state: "delivered" }] },
        ]),
      8000,
    );
  });

  it("comes although the bot's own declaration of tasks has become wrong", async () => {
    let isWrong = false;
    const world = create({
      scheduledTasks: () => {
        if (isWrong) throw new Error("A variable is missing.");
        return {};
      },
    });
    world.script(calls("remind_me", () => ({ text: "Tea", when: soon(1_500), ...IN_LONDON })));
    await go(world);
    isWrong = true;
    await runInDurableObject(world.thread("c1"), async (_bot, state) => {
      await state.storage.sync();
      state.abort("killed by a test");
    }).catch(() => undefined);
    await untilShown(world, /^⏰ Tea/);
    expect(await world.press("c1", "1 h")).toBe("I'll remind you again: in an hour.");
    const listed = await world.thread("c1").schedules.list();
    expect(listed.map(({ taskId }) => taskId)).toContain("#2");
  });

  it("comes again later if the person says so", async () => {
    const world = create();
    world.script(calls("remind_me", () => ({ text: "Tea", when: soon(), ...IN_LONDON })));
    await go(world);
    await untilShown(world, /^⏰ Tea$/);
    expect(await world.press("c1", "1 h")).toBe("I'll remind you again: in an hour.");
    await untilShown(world, /^⏰ Tea\n\nI'll remind you again: in an hour\.$/);
    world.script(calls("list_schedules", {}));
    const listed = await go(world);
    expect(listed).toContain("#2");
    expect(listed).not.toContain("#1");
  });

  it("is listed for the bot's own code, paused, and deleted", async () => {
    const world = create();
    world.script(calls("remind_me", { text: "Water the plants", when: "every day at 09:00", ...IN_LONDON }));
    await go(world);
    const thread = world.thread("c1");
    const [listed] = await thread.schedules.list();
    expect(listed).toMatchObject({
      taskId: "#1",
      kind: "reminder",
      text: "Water the plants",
      schedule: "every day at 09:00",
      timezone: "Europe/London",
      isMadeInChat: true,
      isPaused: false,
      failures: 0,
    });
    expect(listed?.next).toHaveLength(3);
    await thread.schedules.pause("#1");
    expect(await thread.schedules.list()).toMatchObject([{ isPaused: true, next: [] }]);
    expect(await thread.schedules.delete("#1")).toBe(true);
    expect(await thread.schedules.delete("#1")).toBe(false);
    expect(await thread.schedules.list()).toEqual([]);
  });

  it("asks once for the time zone, and remembers it", async () => {
    const world = create();
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00" }));
    expect(await go(world)).toContain("asked for a time zone");
    expect(await world.press("c1", "Tokyo", { user: "bob" })).toBe("This question is for somebody else.");
    expect(await world.press("c1", "Berlin, Paris")).toBe("Thanks, I'll remember that.");
    await untilShown(world, /^I'll remind you: Tea\n\nNext: .*\(Europe\/Berlin\)$/);
    await untilShown(world, /^Your time zone is Europe\/Berlin\.$/);
    await go(world);
    await vi.waitFor(
      () =>
        expect(world.chats.visible("c1").filter((text) => text.includes("I'll remind you"))).toHaveLength(2),
      8000,
    );
  });

  it("asks each person once for the time zone, in all conversations together", async () => {
    const world = create();
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00" }));
    await go(world);
    await world.press("c1", "Berlin, Paris");
    await untilShown(world, /\(Europe\/Berlin\)$/);
    await go(world, "c2");
    await untilShown(world, /^I'll remind you: Tea\n\nNext: .*\(Europe\/Berlin\)$/, "c2");
    expect(await go(world, "c3", { user: "bob" })).toContain("asked for a time zone");
    // The newest word counts everywhere.
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00", timezone: "Asia/Tokyo" }));
    await go(world, "c2");
    world.script(calls("remind_me", { text: "Cake", when: "every day at 09:00" }));
    await go(world, "c1");
    await untilShown(world, /^I'll remind you: Cake\n\nNext: .*\(Asia\/Tokyo\)$/);
  });

  it.each<[string, object, RegExp]>([
    ["too often", { when: "every 5 minutes" }, /too often: there must be at least 15 minutes/],
    ["never", { when: "at 2020-01-01T00:00" }, /That time is over/],
    ["not a time", { when: "whenever" }, /is not a schedule/],
    ["no such zone", { when: "every day at 09:00", timezone: "Mars/Base" }, /is not a time zone/],
  ])("is refused with the reason: %s", async (_name, input, expected) => {
    const world = create();
    world.script(calls("remind_me", { text: "Tea", ...IN_LONDON, ...input }));
    expect(await go(world)).toMatch(expected);
    expect(await world.thread("c1").schedules.occurrences()).toEqual([]);
  });

  it("is limited for each person", async () => {
    const world = create({ settings: { chatSchedules: { mostPerPerson: 1 } } });
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00", ...IN_LONDON }));
    await go(world);
    expect(await go(world)).toContain("You already have 1 schedules here");
  });
});

describe("a digest that somebody has asked for", () => {
  it("is written by the model of the conversation, with its memory", async () => {
    const world = create();
    world.script((request) => {
      if (request.said.includes("Sum up"))
        return [say(`I know ${request.prompt.map(textOf).includes("go") ? "you" : "nobody"}.`)];
      return calls("schedule_digest", () => ({ text: "Sum up the day", when: soon(), ...IN_LONDON }))(
        request,
      );
    });
    await go(world);
    await untilShown(world, /^I know you\.$/);
    expect(await world.thread("c1").schedules.occurrences()).toMatchObject([{ taskId: "#1" }]);
  });

  it("is changed, paused and deleted by its maker only, in a group", async () => {
    const group = { isGroup: true, mentions: true };
    const world = create();
    world.script(calls("schedule_digest", { text: "Sum up", when: "every day at 09:00", ...IN_LONDON }));
    await go(world, "g1", group);
    world.script(calls("cancel_schedule", { id: "#1" }));
    expect(await go(world, "g1", { ...group, user: "bob" })).toContain(
      "Only the person who made this schedule",
    );
    world.script(calls("change_schedule", { id: "#1", when: "every day at 10:00" }));
    expect(await go(world, "g1", group)).toMatch(/10:00 \(Europe\/London\)/);
    world.script(calls("change_schedule", { id: "#1", timezone: "Asia/Tokyo" }));
    const changed = await go(world, "g1", group);
    expect(changed).toMatch(/10:00 \(Asia\/Tokyo\)/);
    expect(changed, "no card tells this").not.toContain("confirmed to the person");
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00" }));
    expect(await go(world, "g1", group), "the zone is remembered").toMatch(/09:00 \(Asia\/Tokyo\)/);
    world.script(calls("pause_schedule", { id: "#1", isPaused: true }));
    expect(await go(world, "g1", group)).toContain('\\"isPaused\\":true'.replaceAll("\\", ""));
    world.script(calls("cancel_schedule", { id: "#1" }));
    expect(await go(world, "g1", group)).toContain("done");
    world.script(calls("list_schedules", {}));
    expect(await go(world, "g1", group)).not.toContain("#1");
  });
});

describe("a digest that somebody deletes", () => {
  it("does not come any more if it waits for another answer at that moment", async () => {
    const world = create();
    world.script(calls("schedule_digest", { text: "Sum up", when: "every day at 09:00", ...IN_LONDON }));
    await go(world);
    await untilShown(world, /^I'll write this for you: Sum up/);
    const gate = createGate();
    world.script(({ said }) =>
      said.includes("Sum up") ? [say("The digest.")] : [say("A long "), holdAt(gate), say("answer.")],
    );
    await world.write("c1", "Tell me a story");
    await untilReached(gate);
    await world.thread("c1").schedules.run("#1");
    await vi.waitFor(
      async () => expect(await world.thread("c1").listSubmissions({ status: "pending" })).toHaveLength(1),
      8000,
    );
    expect(await world.press("c1", "Delete")).toBe("Deleted.");
    await vi.waitFor(
      async () =>
        expect(await world.thread("c1").schedules.occurrences()).toMatchObject([
          { state: "skipped", code: "task-removed" },
        ]),
      8000,
    );
    gate.open();
    await untilShown(world, /^A long answer\.$/);
    expect(await world.thread("c1").listSubmissions({ status: "pending" })).toEqual([]);
    await world.write("c1", "And now?");
    await vi.waitFor(
      () => expect(world.chats.visible("c1").filter((text) => text === "A long answer.")).toHaveLength(2),
      8000,
    );
    expect(world.chats.visible("c1")).not.toContain("The digest.");
  });
});

describe("a digest that fails", () => {
  it("says so once, and pauses with a card whose buttons are for its maker", async () => {
    const group = { isGroup: true, mentions: true };
    const texts = { scheduleFailed: { en: "Failed: {text}", de: "Hat nicht geklappt: {text}" } };
    const world = create({ settings: { chatSchedules: true, texts } });
    world.script((request) => {
      if (request.said.includes("Sum up")) throw new Error("no");
      const input = { text: "Sum up", when: "every day at 09:00", ...IN_LONDON };
      return calls("schedule_digest", input)(request);
    });
    await go(world, "g1", { ...group, language: "de" });
    for (let run = 0; run < 5; run += 1) await world.thread("g1").schedules.run("#1");
    await untilShown(world, /^This failed five times in a row, so I've paused it: Sum up$/, "g1");
    const told = world.chats.visible("g1").filter((text) => text.includes("geklappt"));
    expect(told).toEqual(["Hat nicht geklappt: Sum up"]);
    expect(await world.press("g1", "Delete #1", { ...group, user: "bob" })).toMatch(
      /^Only the person who made this schedule/,
    );
    expect(await world.thread("g1").schedules.list()).toMatchObject([{ taskId: "#1", isPaused: true }]);
    expect(await world.press("g1", "Delete #1", group)).toBe("Deleted.");
    expect(await world.thread("g1").schedules.list()).toEqual([]);
  });
});

describe("a bot that was away", () => {
  const away = async (world: World, days: number, chat = "c1"): Promise<void> => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + days * 24 * 3_600_000 });
    await world.write(chat, "Hello");
  };

  it("says once in the chat, in the person's language, that digests were skipped as too late", async () => {
    const texts = {
      schedulesSkipped: { en: "Skipped:", de: "Ausgelassen:" },
      skippedLine: { en: "{text} (due {time}). {next}", de: "{text} ({time}). {next}" },
      scheduleHasNoNext: { en: "No next one.", de: "Das war der letzte Termin." },
    };
    const world = create({ settings: { chatSchedules: true, texts } });
    const german = { language: "de" } as const;
    const digests = [
      { text: "Sum up", when: "in 2 hours" },
      { text: "Weather", when: "in 3 hours" },
    ];
    try {
      for (const digest of digests) {
        world.script(calls("schedule_digest", { ...digest, timezone: "UTC" }));
        await go(world, "c1", german);
      }
      world.script(calls("remind_me", { text: "Tea", when: "in 4 hours", timezone: "UTC" }));
      await go(world, "c1", german);
      await away(world, 3);
      await untilShown(world, /^⏰ Tea\n\n\(3 days late\)$/);
      await untilShown(
        world,
        /^Ausgelassen:\nSum up \(\w+ [\d-]+ [\d:]+ \(UTC\)\)\. Das war der letzte Termin\.\nWeather \(.*\)\. Das war/,
      );
      const skipped = await world.thread("c1").schedules.occurrences({ state: "skipped" });
      expect(skipped.map(({ code }) => code)).toEqual(["too-late", "too-late"]);
      expect(world.chats.visible("c1").filter((text) => text.startsWith("Ausgelassen:"))).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("/schedules", () => {
  it("lists the schedules with buttons that work", async () => {
    const world = create();
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00", ...IN_LONDON }));
    await go(world);
    await world.write("c1", "/schedules");
    await untilShown(world, /^#1 Tea\nNext: /);
    expect(await world.press("c1", "Pause #1")).toBe("Paused.");
    await untilShown(world, /^#1 Tea\nPaused\.$/);
    expect(await world.press("c1", "Delete #1")).toBe("Deleted.");
    await untilShown(world, /^There are no schedules here/);
  });

  it("says that a one-off reminder is over whose time has passed while it was paused", async () => {
    const world = create();
    world.script(calls("remind_me", { text: "Tea", when: "in 2 hours", ...IN_LONDON }));
    await go(world);
    await world.write("c1", "/schedules");
    await untilShown(world, /^#1 Tea\nNext: /);
    await world.press("c1", "Pause #1");
    await untilShown(world, /^#1 Tea\nPaused\.$/);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * 3_600_000 });
    try {
      expect(await world.press("c1", "Resume #1")).toBe("It has no more occurrences.");
    } finally {
      vi.useRealTimers();
    }
    expect(await world.thread("c1").schedules.list()).toEqual([]);
  });

  it("never says that it has paused a schedule if it could not", async () => {
    let isWrong = false;
    const world = create({
      scheduledTasks: () => {
        if (isWrong) throw new Error("A variable is missing.");
        return {
          check: { scope: "conversation", schedule: "every month on 1 at 00:00 in UTC", handler: () => {} },
        };
      },
    });
    world.script(calls("remind_me", { text: "Tea", when: "every day at 09:00", ...IN_LONDON }));
    await go(world);
    await world.write("c1", "/schedules");
    await untilShown(world, /^#1 Tea\nNext: /);
    isWrong = true;
    await expect(
      runInDurableObject(world.thread("c1"), (bot) => bot.internal_reconcileScheduledTasks()),
    ).rejects.toThrow("A variable is missing.");
    expect(await world.press("c1", "Pause #1")).toBe(
      "My schedules don't work at the moment. Please try again later.",
    );
  });

  it("is unknown, and so are the actions, unless the bot has switched them on", async () => {
    const world = createWorld();
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    expect(world.requests[0]?.tools).toEqual([]);
  });
});
