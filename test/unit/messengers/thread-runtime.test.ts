import { expect, it } from "vitest";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { IncomingEvent, MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { ThreadRuntime } from "../../../src/messengers/thread/thread-runtime.ts";
import type { TurnEngine } from "../../../src/turn/turn-engine.ts";
import type { TurnOutcome } from "../../../src/turn/turn-engine-options.ts";
import { declaredOf, definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import { quietRoot } from "../../../lab/support/quiet-root.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/*
 * A process that died after it had stored an event and before it had read it: the turn that it left goes on in the next
 * process, which reads the event first.
 */

const TURN = "turn-1";

/** Operations that run until they are ended. They are stored: every process sees the same ones. */
function createEngine() {
  const states = new Map<string, "open" | "stopped">();
  return {
    start: async (id: string): Promise<void> => {
      if (!states.has(id)) states.set(id, "open");
    },
    follow: async (): Promise<void> => {},
    // The operations that are taken up ask before the loop comes to anything else.
    resumeAll: (): Promise<void> => (states.size === 0 ? Promise.resolve() : new Promise(() => {})),
    abort: async (id: string): Promise<void> => {
      if (states.has(id)) states.set(id, "stopped");
    },
    outcome: async (id: string): Promise<TurnOutcome> => {
      const state = states.get(id);
      if (state === undefined) return { kind: "unknown" };
      return state === "open" ? { kind: "open" } : { kind: "stopped", text: "" };
    },
    textSoFar: () => "",
    isRepeating: () => false,
    events: new TurnEvents(createVirtualClock()),
    ends: { isAwaited: false },
  };
}

function incoming(event: MessengerEvent): IncomingEvent {
  return { key: event.key, thread: event.thread, raw: event };
}

function createRig(definition: Partial<MessengerDefinition> = {}) {
  const database = createNodeDatabase();
  const clock = createVirtualClock(5_000);
  const engine = createEngine();
  const never = (): Promise<never> => new Promise(() => {});
  const gate: ChatGate = {
    acquire: never,
    penalize: never,
    report: never,
    unclaimed: never,
    noteCard: never,
    findCard: never,
    claimMessage: never,
  };
  let ids = 0;
  const start = () => {
    const process = clock.process();
    const deps = {
      clock: process,
      random: () => 0,
      newId: () => `turn-${(ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched.")),
    };
    const runtime = new ThreadRuntime({
      name: "default/1",
      database,
      deps,
      log: createLog(() => {}),
      engine: engine as unknown as TurnEngine,
      root: quietRoot({ gate: () => gate }),
      messengers: declaredOf(
        () =>
          normalizeMessengers({
            telegram: definitionOf({
              ...definition,
              platform: {
                ...definitionOf().platform,
                parse: ({ raw }) => Promise.resolve(raw as MessengerEvent),
              },
            }),
          }),
        deps,
      ),
      bot: { commands: () => ({}), onAction: () => undefined },
      wake: { at: () => {}, putOff: () => {} },
    });
    return { runtime, kill: () => process.kill() };
  };
  return { clock, start };
}

/** A turn runs; then one more event is stored by a process that dies before it has read it. */
async function withUnread(rig: ReturnType<typeof createRig>, event: MessengerEvent): Promise<ThreadRuntime> {
  const { clock, start } = rig;
  const first = start();
  await first.runtime.receive("telegram", [incoming(messageEvent({ message: { sentAt: clock.now() } }))]);
  await first.runtime.drive();
  first.kill();
  await clock.advance(10_000);
  const second = start();
  const message = event.message === undefined ? undefined : { ...event.message, sentAt: clock.now() };
  expect(await second.runtime.receive("telegram", [incoming({ ...event, message })])).toBe(true);
  second.kill();
  return start().runtime;
}

const later = messageEvent({ key: "m:1:2", message: { id: "2", text: "Green ones!" } });
const stop = messageEvent({
  key: "m:1:2",
  message: { id: "2", text: "/stop", command: { name: "stop", args: "" } },
});

it("gives way to a message that a process has left unread, before the model's next step", async () => {
  const runtime = await withUnread(createRig({ whenBusy: "steer" }), later);
  expect(await runtime.beforeStep(TURN)).toBe("yield");
});

it("runs no tool with an effect after a /stop that a process has left unread", async () => {
  const runtime = await withUnread(createRig(), stop);
  expect(await runtime.beforeTool(TURN)).toBe("block");
});

it("does not call the model again after a /stop that a process has left unread", async () => {
  const runtime = await withUnread(createRig(), stop);
  expect(await runtime.beforeStep(TURN)).toBe("yield");
});

it.each([
  ["calls the model again", "yield", (runtime: ThreadRuntime) => runtime.beforeStep(TURN)],
  ["runs a tool with an effect", "block", (runtime: ThreadRuntime) => runtime.beforeTool(TURN)],
] as const)("neither %s when a message that interrupts it was left unread", async (_what, decision, goOn) => {
  const runtime = await withUnread(createRig({ whenBusy: "interrupt" }), later);
  expect(await goOn(runtime)).toBe(decision);
});

it("goes on when nothing of what was left unread concerns the turn", async () => {
  const runtime = await withUnread(createRig(), later);
  expect(await runtime.beforeStep(TURN)).toBe("go");
  expect(await runtime.beforeTool(TURN)).toBe("run");
});

it("goes on after five seconds when an event cannot be read", async () => {
  const rig = createRig({
    whenBusy: "steer",
    toEvent: ({ event }) => (event.key === later.key ? new Promise<never>(() => {}) : event),
  });
  const runtime = await withUnread(rig, later);
  const decided: string[] = [];
  void runtime.beforeStep(TURN).then((decision) => decided.push(decision));
  await rig.clock.advance(4_900);
  expect(decided).toEqual([]);
  await rig.clock.advance(100);
  expect(decided).toEqual(["go"]);
});
