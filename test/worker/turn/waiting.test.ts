import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import type { PlatformContext } from "../../../src/core/chat/messenger.ts";
import type { Surface } from "../../../src/core/chat/surface.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { fakeTime } from "../support/fake-time.ts";
import type { FakeTime } from "../support/fake-time.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say } from "../support/scripted-model.ts";
import type { ModelStep } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

const MOMENT = "One moment, this is taking longer than usual.";
const BUSY = "Sorry, I'm very busy right now and couldn't answer. Please try again in a few minutes.";
const SORRY = "Sorry, something went wrong and I couldn't answer. Please try again in a moment.";
const STOPPED = "(stopped)";
const SECOND = 1000;

let log: readonly LogLine[];
let time: FakeTime;
beforeEach(() => {
  log = captureLog();
  time = fakeTime();
});

function httpError(statusCode: number, headers: Record<string, string> = {}): ModelStep {
  return failWith(Object.assign(new Error("secret detail"), { statusCode, responseHeaders: headers }));
}

const refused = failWith(
  new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) }),
);

/** A bot whose model fails like this until it is healed, and when it was asked. */
function createBusyWorld(failure: readonly ModelStep[], options: WorldOptions = {}) {
  const askedAt: number[] = [];
  let isHealed = false;
  const world = createWorld({
    script: ({ said }) => {
      askedAt.push(Date.now());
      return isHealed ? [say(`You said: ${said}`)] : failure;
    },
    messengers: (self) => ({
      fake: { ...self.messenger(options.messenger), platform: fakePlatform(self.chats, { typing: true }) },
    }),
    ...options,
  });
  const heal = (): void => void (isHealed = true);
  const waits = (): number[] => askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? at));
  return { world, askedAt, heal, waits };
}

async function untilAsked(askedAt: readonly number[], times: number): Promise<void> {
  await expect.poll(() => askedAt.length).toBe(times);
}

async function untilWaiting(): Promise<void> {
  await expect.poll(() => log.map(({ event }) => event)).toContain("turn.model-retried");
}

async function kill(world: World): Promise<void> {
  await runInDurableObject(world.thread("c1"), (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
}

describe("a model server that is busy", () => {
  it.each([
    ["429 with a time", httpError(429, { "retry-after": "7" }), 7],
    ["503 with a time of day", httpError(503, untilIn(7)), 7],
    ["429 without a time", httpError(429), 0.25],
    ["529", httpError(529), 0.25],
    ["503", httpError(503), 0.25],
    ["a refused connection", refused, 0.25],
  ])("is waited for: %s", async (_name, failure, seconds) => {
    const { askedAt, heal, waits, world } = createBusyWorld([failure]);
    await world.write("c1", "Hello");
    await untilAsked(askedAt, 1);
    await untilWaiting();
    await time.pass(seconds * SECOND);
    await untilAsked(askedAt, 2);
    heal();
    await time.pass(15 * SECOND);
    await world.shows("c1", "You said: Hello");
    expect(waits()[0]).toBeGreaterThanOrEqual(seconds * SECOND);
  });

  it("is asked ever less often, for two minutes in all, and then the person hears that it is busy", async () => {
    const { askedAt, world } = createBusyWorld([httpError(503)]);
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(115 * SECOND);
    expect(world.chats.visible("c1")).toEqual([MOMENT]);
    await time.pass(6 * SECOND);
    await world.shows("c1", MOMENT, BUSY);
    const delays = log.filter(({ event }) => event === "turn.model-retried").map(({ delayMs }) => delayMs);
    expect(delays.slice(0, 7)).toEqual([250, 500, 1000, 2000, 4000, 7500, 7500]);
    expect(askedAt).toHaveLength(delays.length + 1);
    expect(log.findLast(({ event }) => event === "turn.ended")).toMatchObject({ outcome: "failed" });
  });

  it("is given up at once when it asks for more time than is left", async () => {
    const { askedAt, world } = createBusyWorld([httpError(429, { "retry-after": "121" })]);
    await world.write("c1", "Hello");
    await world.shows("c1", BUSY);
    expect(askedAt).toHaveLength(1);
  });

  it("is waited for as long as the bot says, with the bot's own words", async () => {
    const { world } = createBusyWorld([refused], {
      settings: { modelPatienceMs: 30 * SECOND },
      messenger: {
        delivery: { waitingResponseText: () => "Moment!", overloadedResponseText: "Später wieder." },
      },
    });
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(29 * SECOND);
    expect(world.chats.visible("c1")).toEqual(["Moment!"]);
    await time.pass(2 * SECOND);
    await world.shows("c1", "Moment!", "Später wieder.");
  });

  it("has the person told once after 20 seconds, and the answer stands apart from that", async () => {
    const { askedAt, heal, world } = createBusyWorld([httpError(429, { "retry-after": "8" })]);
    await world.write("c1", "Hello");
    await untilAsked(askedAt, 1);
    await untilWaiting();
    await time.pass(19 * SECOND);
    expect(world.chats.visible("c1")).toEqual([]);
    await time.pass(2 * SECOND);
    await world.shows("c1", MOMENT);
    await time.pass(40 * SECOND);
    heal();
    await time.pass(15 * SECOND);
    await world.shows("c1", MOMENT, "You said: Hello");
    expect(world.chats.messages("c1").map(({ texts }) => texts[0])).toEqual([MOMENT, "You said: Hello"]);
  });

  it("has nobody told once the answer is there, when the platform took no message before", async () => {
    let isRefusing = true;
    const { heal, world } = createBusyWorld([httpError(503)], {
      messengers: (self) => {
        const platform = fakePlatform(self.chats);
        const post: Surface["post"] = (...call) =>
          isRefusing ? Promise.reject(new Error("too many")) : surface.post(...call);
        const surface = platform.surface({} as PlatformContext);
        const busy: Surface = {
          ...surface,
          post,
          classifyError: () => ({ kind: "retry-after", code: "too-many", retryAfterMs: 30 * SECOND }),
        };
        return { fake: { ...self.messenger(), platform: { ...platform, surface: () => busy } } };
      },
    });
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(22 * SECOND);
    expect(log.filter(({ event }) => event === "delivery.call-failed")).toHaveLength(1);
    isRefusing = false;
    heal();
    await time.pass(40 * SECOND);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "You said: Hello");
    await time.pass(40 * SECOND);
    expect(world.chats.visible("c1")).toEqual(["You said: Hello"]);
  });

  it("has typing shown all the time", async () => {
    const { world } = createBusyWorld([httpError(503)]);
    await world.write("c1", "Hello");
    await untilWaiting();
    for (let part = 0; part < 11; part += 1) {
      const from = Date.now();
      await time.pass(10 * SECOND);
      expect(world.chats.typed.filter((at) => at > from)).not.toEqual([]);
    }
  });

  it("counts what a turn has waited over all of its model calls", async () => {
    let calls = 0;
    const { world } = createBusyWorld([], {
      getTools: () => ({}),
      script: () => {
        calls += 1;
        if (calls === 2) return [callTool("nothing")];
        return [httpError(429, { "retry-after": "70" })];
      },
    });
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(80 * SECOND);
    // 70 more would be 140 in all.
    await world.shows("c1", MOMENT, BUSY);
    expect(calls).toBe(3);
  });

  it("interrupts an answer without a message below what is visible", async () => {
    let calls = 0;
    const { world } = createBusyWorld([], {
      script: () => {
        calls += 1;
        return calls === 1 ? [say("Let me look."), callTool("nothing")] : [httpError(503)];
      },
      messenger: { delivery: { editEveryMs: 0, interruptedResponseText: "Cut short." } },
    });
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(60 * SECOND);
    expect(world.chats.visible("c1")).toEqual(["Let me look."]);
    await time.pass(61 * SECOND);
    await world.shows("c1", "Let me look.\n\nCut short.");
  });

  it("is waited for in silence in a group where the model may stay silent", async () => {
    const { heal, world } = createBusyWorld([httpError(503)], {
      messenger: { respondTo: ["mention"], delivery: { silence: true } },
    });
    await world.write("c1", "Hello", { isGroup: true, mentions: true });
    await untilWaiting();
    await time.pass(60 * SECOND);
    expect(world.chats.visible("c1")).toEqual([]);
    heal();
    await time.pass(16 * SECOND);
    await world.shows("c1", "You said: ada: Hello");
  });

  it.each([400, 401, 403, 404])("is not asked again after a %i", async (status) => {
    const { askedAt, world } = createBusyWorld([httpError(status)]);
    await world.write("c1", "Hello");
    await world.shows("c1", SORRY);
    expect(askedAt).toHaveLength(1);
  });
});

describe("the wait for a model server", () => {
  it("is ended at once by /stop", async () => {
    const { askedAt, heal, world } = createBusyWorld([httpError(429, { "retry-after": "100" })]);
    await world.write("c1", "Hello");
    await untilWaiting();
    heal();
    await world.write("c1", "/stop");
    await world.shows("c1", STOPPED);
    await world.write("c1", "Again");
    await world.shows("c1", STOPPED, "You said: Again");
    expect(askedAt).toHaveLength(2);
    await time.pass(60 * SECOND);
    expect(world.chats.visible("c1")).toEqual([STOPPED, "You said: Again"]);
  });

  it("is ended at once by a message that joins the question", async () => {
    const { askedAt, heal, world } = createBusyWorld([httpError(429, { "retry-after": "100" })], {
      messenger: { burstMs: 1000 },
    });
    const sentAt = Date.now();
    await world.write("c1", "Hello", { sentAt });
    await untilWaiting();
    heal();
    await world.write("c1", "you there?", { sentAt: sentAt + 500 });
    await world.shows("c1", "You said: Hello\nyou there?");
    expect(askedAt).toHaveLength(2);
    await time.pass(30 * SECOND);
    expect(world.chats.visible("c1")).toHaveLength(1);
  });

  it("goes on after a crash, with what is left of the patience and without a second message", async () => {
    const { askedAt, world } = createBusyWorld([httpError(503)]);
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(70 * SECOND);
    await world.shows("c1", MOMENT);
    await kill(world);
    const asked = askedAt.length;
    void runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
    await expect.poll(() => askedAt.length).toBeGreaterThan(asked);
    await time.pass(40 * SECOND);
    expect(world.chats.visible("c1")).toEqual([MOMENT]);
    await time.pass(11 * SECOND);
    await world.shows("c1", MOMENT, BUSY);
  });

  it("ends in the answer after a crash", async () => {
    const { askedAt, heal, world } = createBusyWorld([httpError(429, { "retry-after": "50" })]);
    await world.write("c1", "Hello");
    await untilWaiting();
    await time.pass(5 * SECOND);
    heal();
    await kill(world);
    void runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
    await world.shows("c1", "You said: Hello");
    expect(askedAt).toHaveLength(2);
  });

  it("leaves nothing of the object's time behind: no timer and no wake once the turn has ended", async () => {
    const { world } = createBusyWorld([httpError(429, { "retry-after": "121" })]);
    await world.write("c1", "Hello");
    await world.shows("c1", BUSY);
    await expect
      .poll(() => runInDurableObject(world.thread("c1"), (_bot, { storage }) => storage.getAlarm()))
      .toBeNull();
  });
});

describe("chat()", () => {
  const told: string[] = [];
  const listener = {
    onStart: () => {},
    onEvent: (json: string) => void told.push((JSON.parse(json) as { delta?: string }).delta ?? ""),
    onDone: () => void told.push("done"),
    onError: (error: string) => void told.push(`error: ${error}`),
  };
  beforeEach(() => {
    told.length = 0;
  });

  it("waits for a busy server, too", async () => {
    const { heal, world } = createBusyWorld([httpError(429, { "retry-after": "30" })]);
    const chat = world.child("chat").chat("Hello", listener);
    await untilWaiting();
    heal();
    await time.pass(34 * SECOND);
    await chat;
    expect(told.join("")).toBe("You said: Hellodone");
  });

  it("says that the assistant is busy when the patience is over", async () => {
    const { world } = createBusyWorld([refused]);
    const chat = world.child("chat").chat("Hello", listener);
    await untilWaiting();
    await time.pass(122 * SECOND);
    await chat;
    expect(told.join("")).toBe(`error: ${BUSY}`);
  });
});

describe("a model that falls silent", () => {
  it("in mid-answer is asked again after 30 seconds", async () => {
    const gate = createGate();
    const { askedAt, heal, world } = createBusyWorld([say("Once upon"), holdAt(gate)]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    heal();
    await time.pass(29 * SECOND);
    expect(askedAt).toHaveLength(1);
    await time.pass(3 * SECOND);
    await world.shows("c1", "You said: Tell");
    gate.open();
  });

  it("before its answer has two minutes, while typing is shown", async () => {
    const gate = createGate();
    const { askedAt, world } = createBusyWorld([holdAt(gate), say("At last.")]);
    await world.write("c1", "Tell");
    await untilAsked(askedAt, 1);
    await time.pass(110 * SECOND);
    expect(world.chats.visible("c1")).toEqual([]);
    expect(Date.now() - (world.chats.typed.at(-1) ?? 0)).toBeLessThanOrEqual(10 * SECOND);
    await time.pass(12 * SECOND);
    await world.shows("c1", BUSY);
    expect(askedAt).toHaveLength(1);
    gate.open();
  });

  it("before its answer is asked again while the turn has patience", async () => {
    const gate = createGate();
    const { askedAt, heal, world } = createBusyWorld([holdAt(gate)], {
      settings: { chatStreamFirstChunkTimeoutMs: 10 * SECOND },
    });
    await world.write("c1", "Tell");
    await untilAsked(askedAt, 1);
    heal();
    await time.pass(12 * SECOND);
    await world.shows("c1", "You said: Tell");
    expect(askedAt).toHaveLength(2);
    gate.open();
  });
});

function untilIn(seconds: number): Record<string, string> {
  const now = Date.UTC(2026, 0, 1);
  return { date: new Date(now).toUTCString(), "retry-after": new Date(now + seconds * SECOND).toUTCString() };
}
