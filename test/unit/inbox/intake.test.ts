import { describe, expect, it } from "vitest";
import type { MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { createIntakeRig, runToTheEnd } from "./intake-rig.ts";

const broken = (): never => {
  throw new TypeError("the person wrote: psst");
};

describe("an event that cannot be read", () => {
  it.each<[string, Partial<MessengerDefinition>]>([
    ["toEvent throws", { toEvent: broken }],
    ["toEvent rejects", { toEvent: () => Promise.reject(new TypeError("psst")) }],
    ["allow throws", { allow: broken }],
  ])(
    "is tried again, then given up, in the log and to the person, when %s (I10)",
    async (_name, definition) => {
      const rig = createIntakeRig({
        definition: { delivery: { errorResponseText: "Sorry." }, ...definition },
      });
      rig.receive("psst");
      const lastedMs = await runToTheEnd(rig);
      expect(lastedMs).toBeGreaterThan(30 * 60_000);
      expect(rig.log.filter(({ event }) => event === "inbox.unreadable")).toHaveLength(12);
      expect(rig.outcomes()).toEqual(["given up: TypeError, the person is told"]);
      expect(rig.inbox.inState("received")).toEqual([]);
      expect(JSON.stringify(rig.log)).not.toContain("psst");
      expect(rig.sent).toEqual(["Sorry."]);
    },
  );

  it("tells the person once, until something can be read again", async () => {
    let isDown = true;
    const rig = createIntakeRig({
      definition: {
        delivery: { errorResponseText: "Sorry." },
        toEvent: ({ event }) => (isDown ? broken() : event),
      },
    });
    for (const text of ["one", "two"]) rig.receive(text);
    await runToTheEnd(rig);
    rig.receive("three");
    await runToTheEnd(rig);
    expect(rig.sent).toEqual(["Sorry."]);
    isDown = false;
    rig.receive("four");
    await runToTheEnd(rig);
    isDown = true;
    rig.receive("five");
    await runToTheEnd(rig);
    expect(rig.sent).toEqual(["Sorry.", "Sorry."]);
    expect(rig.waiting()).toEqual(["four"]);
  });

  it("is given up as well when it is getCommands() that throws, and does not stop the conversation", async () => {
    const rig = createIntakeRig({
      definition: { delivery: { errorResponseText: "Sorry." } },
      commands: broken,
    });
    rig.receive("Hello");
    await runToTheEnd(rig);
    expect(rig.sent).toEqual(["Sorry."]);
    expect(rig.outcomes()).toEqual(["given up: TypeError, the person is told"]);
  });

  it("says nothing in a group that did not speak to the bot, nor of an edit", async () => {
    const thread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
    const rig = createIntakeRig({ definition: { toEvent: broken } });
    rig.receive("to the others", { kind: "message", thread });
    rig.receive("corrected", { kind: "message-edited" });
    await runToTheEnd(rig);
    expect(rig.sent).toEqual([]);
    rig.receive("@bot hello", { kind: "mention", thread });
    await runToTheEnd(rig);
    expect(rig.sent).toHaveLength(1);
  });

  it("is told of in a private chat, and nowhere else, when not even its kind can be read", async () => {
    const thread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
    const rig = createIntakeRig({ beforeParse: broken });
    rig.receive("in a group", { thread });
    await runToTheEnd(rig);
    expect(rig.sent).toEqual([]);
    rig.receive("alone");
    await runToTheEnd(rig);
    expect(rig.sent).toHaveLength(1);
  });

  it("does not hold up those after it", async () => {
    const rig = createIntakeRig({
      definition: { toEvent: ({ event }) => (event.message?.text === "odd" ? broken() : event) },
    });
    rig.receive("odd");
    rig.receive("even");
    expect(await rig.intake.run()).toBeGreaterThan(rig.clock.now());
    expect(rig.waiting()).toEqual(["even"]);
  });

  it("is not given up sooner because other messages arrive", async () => {
    let isDown = true;
    const rig = createIntakeRig({
      beforeParse: ({ message }) => {
        if (isDown && message?.text === "odd") throw new Error("the platform cannot be reached");
      },
    });
    rig.receive("odd");
    for (let message = 0; message < 30; message += 1) {
      rig.receive(`even ${message}`);
      await rig.intake.run();
    }
    expect(rig.log.filter(({ event }) => event === "inbox.unreadable")).toHaveLength(1);
    isDown = false;
    await rig.clock.advance(2500);
    expect(await rig.intake.run()).toBeUndefined();
    expect(rig.waiting()[0]).toBe("odd");
  });

  it("outlasts an outage of ten minutes", async () => {
    const rig = createIntakeRig({
      beforeParse: () => {
        if (rig.clock.now() < end) throw new Error("the platform cannot be reached");
      },
    });
    const end = rig.clock.now() + 10 * 60_000;
    rig.receive("Hello");
    await runToTheEnd(rig);
    expect(rig.waiting()).toEqual(["Hello"]);
  });

  it("is tried at once after a restart", async () => {
    let isDown = true;
    const rig = createIntakeRig({
      beforeParse: () => {
        if (isDown) throw new Error("the platform cannot be reached");
      },
    });
    rig.receive("Hello");
    await rig.intake.run();
    isDown = false;
    const restarted = rig.restart();
    expect(await restarted.intake.run()).toBeUndefined();
    expect(restarted.waiting()).toEqual(["Hello"]);
  });

  it("is dropped with its reason when its messenger is not declared any more", async () => {
    const rig = createIntakeRig({ isDeclared: () => false });
    rig.receive("Hello");
    expect(await rig.intake.run()).toBeUndefined();
    expect(rig.outcomes()).toEqual(['the messenger "telegram" is not declared any more']);
  });
});

describe("an event whose conversation cannot be told", () => {
  const conversation = () => ({ target: "self" as const });
  const unresolved = { kind: "unresolved", code: "TypeError" } as const;

  it("is passed on as soon as it can be, at most half a minute after, and read by nobody here", async () => {
    const rig = createIntakeRig({
      definition: { conversation },
      beforeParse: broken,
      route: () => Promise.resolve(rig.clock.now() < end ? unresolved : { kind: "delivered" }),
    });
    const end = rig.clock.now() + 10 * 60_000;
    rig.receive("Hello");
    const lastedMs = await runToTheEnd(rig);
    expect(lastedMs).toBeGreaterThanOrEqual(10 * 60_000);
    expect(lastedMs).toBeLessThanOrEqual(10 * 60_000 + 30_000);
    expect(rig.outcomes()).toEqual(["passed on to its conversation"]);
    expect(rig.sent).toEqual([]);
  });

  it("is given up after 40 minutes, and the person is told", async () => {
    const rig = createIntakeRig({ definition: { conversation }, route: () => Promise.resolve(unresolved) });
    rig.receive("Hello");
    const lastedMs = await runToTheEnd(rig);
    expect(lastedMs).toBeGreaterThan(38 * 60_000);
    expect(lastedMs).toBeLessThan(41 * 60_000);
    expect(rig.outcomes()).toEqual(["given up: TypeError, the person is told"]);
    expect(rig.sent).toHaveLength(1);
  });

  it("waits too while the root cannot be reached", async () => {
    let isDown = true;
    const rig = createIntakeRig({
      definition: { conversation },
      route: () =>
        isDown ? Promise.reject(new Error("the root is gone")) : Promise.resolve({ kind: "delivered" }),
    });
    rig.receive("Hello");
    expect(await rig.intake.run()).toBeGreaterThan(rig.clock.now());
    isDown = false;
    await runToTheEnd(rig);
    expect(rig.outcomes()).toEqual(["passed on to its conversation"]);
  });

  it("is none where the bot has no resolver", async () => {
    const rig = createIntakeRig({ route: () => Promise.resolve(unresolved) });
    rig.receive("Hello");
    await runToTheEnd(rig);
    expect(rig.waiting()).toEqual(["Hello"]);
  });
});

describe("a command whose handler answers with something that is no text", () => {
  it.each<[string, unknown, string[]]>([
    ["null", null, []],
    ["a number", 7, []],
    ["a prompt that is none", { prompt: 7 }, ["Sorry."]],
    ["a promise of null", Promise.resolve(null), []],
    ["a promise of a prompt that is none", Promise.resolve({ prompt: null }), ["Sorry."]],
  ])("runs once, and does not stop the conversation, for %s", async (_name, result, shown) => {
    let runs = 0;
    const handler = () => {
      runs += 1;
      return result as never;
    };
    const rig = createIntakeRig({
      definition: { delivery: { errorResponseText: "Sorry." } },
      commands: { odd: { description: "Odd", handler } },
    });
    rig.receive("/odd", { message: { command: { name: "odd", args: "" } } });
    await rig.intake.run();
    await rig.clock.advance(1000);
    await rig.intake.run();
    expect(runs).toBe(1);
    expect(rig.sent).toEqual(shown);
    expect(rig.outcomes()).toEqual(["command: odd"]);
  });
});

describe("a command whose prompt cannot be taken, because the root cannot be reached", () => {
  it("is tried again after a rest, and its handler does not run again for that", async () => {
    let runs = 0;
    let isDown = true;
    const rig = createIntakeRig({
      definition: { limits: { turnsPerPersonPerDay: 5 } },
      beforeCount: () => {
        if (isDown) throw new TypeError("psst");
      },
      commands: {
        ask: {
          description: "Ask",
          handler: async () => {
            runs += 1;
            return { prompt: "What is new?" };
          },
        },
      },
    });
    rig.receive("/ask", { message: { command: { name: "ask", args: "" } } });
    await rig.intake.run();
    await rig.clock.settle();
    const again = await rig.intake.run();
    expect(again).toBe(rig.clock.now() + 2500);
    isDown = false;
    await runToTheEnd(rig);
    await rig.clock.settle();
    expect(rig.waiting()).toEqual(["What is new?"]);
    expect(runs).toBe(1);
    expect(JSON.stringify(rig.log)).not.toContain("psst");
  });
});

describe("code of the bot that hangs", () => {
  const never = new Promise<never>(() => {});

  it("does not hold up the conversation when it is a command: the person gets the error text", async () => {
    const rig = createIntakeRig({
      definition: { delivery: { errorResponseText: "Sorry." } },
      commands: {
        slow: {
          description: "Hang",
          handler: (command) => {
            command.reply("One moment.");
            return never;
          },
        },
        stop: { description: "Stop", handler: () => "Stopped." },
      },
    });
    const command = (name: string) => ({ message: { command: { name, args: "" } } });
    rig.receive("/slow", command("slow"));
    rig.receive("/stop", command("stop"));
    expect(await rig.intake.run()).toBeUndefined();
    expect(rig.sent).toEqual(["One moment.", "Stopped."]);
    expect(await rig.intake.run()).toBeUndefined();
    await rig.clock.advance(29_000);
    expect(rig.sent).toEqual(["One moment.", "Stopped."]);
    await rig.clock.advance(1000);
    expect(rig.sent).toEqual(["One moment.", "Stopped.", "Sorry."]);
    expect(new Set(rig.outcomes())).toEqual(new Set(["command: slow", "command: stop"]));
  });

  it("runs once when it is a command whose reply cannot be stored at first", async () => {
    const disk = { isFull: true };
    let runs = 0;
    const rig = createIntakeRig({
      beforeSend: () => {
        if (disk.isFull) throw new Error("database or disk is full");
      },
      commands: {
        order: {
          description: "Order a coffee",
          handler: async () => {
            runs += 1;
            await Promise.resolve();
            return "Ordered.";
          },
        },
      },
    });
    rig.receive("/order", { message: { command: { name: "order", args: "" } } });
    for (let poke = 0; poke < 5; poke += 1) {
      await rig.intake.run();
      await rig.clock.advance(1);
    }
    expect(runs).toBe(1);
    disk.isFull = false;
    await rig.clock.advance(60_000);
    await rig.intake.run();
    expect(rig.sent).toEqual(["Ordered."]);
    expect(runs).toBe(1);
    expect(rig.outcomes()).toEqual(["command: order"]);
  });

  it.each<[string, Partial<MessengerDefinition>]>([
    ["toEvent", { toEvent: ({ event }) => (event.message?.text === "odd" ? never : event) }],
    ["allow", { allow: (_author, { message }) => (message?.text === "odd" ? never : true) }],
  ])("does not hold up the conversation when it is %s", async (_name, definition) => {
    const rig = createIntakeRig({ definition });
    rig.receive("odd");
    rig.receive("even");
    const running = rig.intake.run();
    await rig.clock.advance(30_000);
    expect(await running).toBeGreaterThan(rig.clock.now());
    expect(rig.waiting()).toEqual(["even"]);
    expect(rig.log).toContainEqual(
      expect.objectContaining({
        event: "inbox.unreadable",
        fields: expect.objectContaining({ code: "took-too-long" }) as unknown,
      }),
    );
  });
});

describe("what is held for more of it", () => {
  it("is an album until no picture has come for a second, each moving the moment", async () => {
    const rig = createIntakeRig();
    const picture = { message: { albumId: "a1" } };
    const began = rig.clock.now();
    rig.receive("one", picture);
    await rig.intake.run();
    await rig.clock.advance(600);
    rig.receive("two", picture);
    await rig.intake.run();
    expect(rig.inbox.inState("queued").map(({ readyAt }) => readyAt - began)).toEqual([1600, 1600]);
  });

  it("is a text of 4,000 characters, and none that is shorter", async () => {
    const rig = createIntakeRig();
    rig.receive("x".repeat(4000));
    rig.receive("x".repeat(3999));
    await rig.intake.run();
    expect(rig.inbox.inState("queued").map(({ readyAt }) => readyAt > 0)).toEqual([true, false]);
  });
});

describe("a command after a crash", () => {
  it("runs again when its reply was not stored, and not when it was (I2)", async () => {
    let runs = 0;
    const rig = createIntakeRig({
      commands: {
        count: {
          description: "Count",
          handler: () => {
            runs += 1;
            return runs === 1 ? new Promise<never>(() => {}) : `run ${runs}`;
          },
        },
      },
    });
    rig.receive("/count", { message: { command: { name: "count", args: "" } } });
    // The object dies during the first run.
    void rig.intake.run();
    const restarted = rig.restart();
    await restarted.intake.run();
    expect(restarted.sent).toEqual(["run 2"]);
    const again = restarted.restart();
    await again.intake.run();
    expect(again.sent).toEqual([]);
    expect(runs).toBe(2);
  });
});

describe("the platform's stop button", () => {
  it("ends the answer that it belongs to, sends nothing and asks no model", async () => {
    const rig = createIntakeRig({ runningDraftId: 7 });
    rig.receive("", { kind: "stop", stop: { draftId: 7 } });
    await runToTheEnd(rig);
    expect(rig.outcomes()).toEqual(["stopped"]);
    expect(rig.sent).toEqual([]);
    expect(rig.waiting()).toEqual([]);
  });

  it("leaves a later answer alone when the press comes late", async () => {
    const rig = createIntakeRig({ runningDraftId: 8 });
    rig.receive("", { kind: "stop", stop: { draftId: 7 } });
    await runToTheEnd(rig);
    expect(rig.outcomes()).toEqual(["ignored: the answer has ended already"]);
  });
});

describe("a glance at an event before it is stored", () => {
  const group = { id: "t:-1", chatId: "-1", isDirectMessage: false };

  it.each<[string, Parameters<typeof messageEvent>[0]]>([
    ["a message to nobody", { kind: "message", thread: group }],
    ["a message to the bot", { kind: "mention", thread: group }],
    ["a service message", { kind: "service", detail: "pinned", thread: group }],
    ["another bot's", { kind: "mention", author: { userId: "7", isBot: true }, thread: group }],
    ["an edit", { kind: "message-edited", thread: group }],
    ["an unknown kind", { kind: "ignored", detail: "poll", thread: group }],
  ])("says of %s what the intake says of it later, or nothing", async (_name, overrides) => {
    const rig = createIntakeRig();
    const event = messageEvent({ key: "m:1", ...overrides });
    const glance = await rig.intake.glance("telegram", { key: "m:1", thread: event.thread, raw: event });
    expect(rig.log).toEqual([]);
    rig.receive("psst", overrides);
    await runToTheEnd(rig);
    expect(rig.outcomes()).toHaveLength(1);
    if (glance === undefined) expect(rig.outcomes()[0]).not.toMatch(/^ignored: (?:no mention|service)/);
    else expect(rig.outcomes()).toEqual([glance.outcome]);
  });

  it("says nothing while an earlier event is not decided, so that none overtakes it", async () => {
    const rig = createIntakeRig({
      beforeParse: ({ message }) => void (message?.text === "early" && broken()),
    });
    rig.receive("early", { thread: group });
    await rig.intake.run();
    const event = messageEvent({ key: "m:2", kind: "message", thread: group });
    expect(await rig.intake.glance("telegram", { key: "m:2", thread: group, raw: event })).toBeUndefined();
  });

  it("leaves events of a bot with code of its own to the intake", async () => {
    const rig = createIntakeRig({ definition: { toEvent: ({ event }) => event } });
    const event = messageEvent({ key: "m:1", kind: "message", thread: group });
    expect(await rig.intake.glance("telegram", { key: "m:1", thread: group, raw: event })).toBeUndefined();
  });
});
