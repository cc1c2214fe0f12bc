import type { UIMessage } from "ai";
import { expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { ThreadRuntime } from "../../../src/messengers/thread/thread-runtime.ts";
import type { ReplyTextSink } from "../../../src/turn/reply-text.ts";
import type { TurnEngine } from "../../../src/turn/turn-engine.ts";
import type { TurnOutcome } from "../../../src/turn/turn-engine-options.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import { createTestGate } from "../../support/chat-gates.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import { declaredOf, definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import { quietRoot } from "../../../lab/support/quiet-root.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/*
 * A message follows in the same breath, and the running turn starts over with both. The reply of the first turn has a
 * post without an answer, which the reply of the next one has to look for.
 */

const CHAT = { messengerId: "telegram", chatId: "1" };

/** One conversation in its own gate. Its process dies at a write of which `onWrite` throws. */
function createRig() {
  const clock = createVirtualClock(5_000);
  const stored = createNodeDatabase();
  const surface = createFakeSurface({ clock, probing: true, capabilities: { typing: false } });
  surface.fault("post", { kind: "hang" });
  let onWrite = (): void => {};
  let ids = 0;
  const start = (): ThreadRuntime => {
    const process = clock.process();
    const deps = {
      clock: process,
      random: () => 0,
      newId: () => `turn-${(ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched.")),
    };
    const database = stored.withHooks({ afterWrite: () => onWrite() });
    const engine = {
      start: async (_id: string, _session: string, _message: UIMessage, sink: ReplyTextSink) => {
        sink.append("These words are read while the answer is being written.");
      },
      follow: async (): Promise<void> => {},
      resumeAll: async (): Promise<void> => {},
      abort: () => new Promise<void>(() => {}),
      outcome: async (): Promise<TurnOutcome> => ({ kind: "open" }),
      textSoFar: () => "",
      isRepeating: () => false,
      events: new TurnEvents(process),
    };
    const { gate } = createTestGate({
      rootDatabase: createNodeDatabase(),
      gateDatabase: database,
      deps,
      name: "default/1",
      local: () => runtime.delivery,
    });
    const runtime: ThreadRuntime = new ThreadRuntime({
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
              platform: {
                ...definitionOf().platform,
                surface: () => surface,
                parse: ({ raw }) => Promise.resolve(raw as MessengerEvent),
              },
            }),
          }),
        deps,
      ),
      bot: { commands: () => ({}), onAction: () => undefined },
      wake: { at: () => {}, putOff: () => {} },
    });
    return runtime;
  };
  const write = async (runtime: ThreadRuntime, id: string): Promise<void> => {
    const event = messageEvent({ key: `m:1:${id}`, message: { id, sentAt: clock.now() } });
    await runtime.receive("telegram", [{ key: event.key, thread: event.thread, raw: event }]);
    await runtime.drive();
  };
  return {
    clock,
    start,
    surface,
    write,
    watch: (listener: () => void): void => {
      onWrite = listener;
    },
  };
}

it("never leaves a lost post without a reply that looks for it, wherever the process dies (I6)", async () => {
  const { clock, start, surface, watch, write } = createRig();
  const runtime = start();
  await write(runtime, "1");
  await clock.advance(500);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post"]);
  const inDoubt: boolean[] = [];
  // A process that starts where this one has died, and knows only what is stored.
  const look = (): void => {
    watch(() => {});
    inDoubt.push(start().delivery.isInDoubt(CHAT, ""));
    watch(look);
  };
  watch(look);
  void write(runtime, "2");
  await clock.advance(500);
  expect(runtime.delivery.receipt("turn-1")?.state).toBe("withdrawn");
  expect(inDoubt.length).toBeGreaterThan(1);
  expect(new Set(inDoubt)).toEqual(new Set([true]));
});
