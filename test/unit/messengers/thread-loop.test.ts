import { expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { HEARTBEAT_MS } from "../../../src/messengers/declare/wake.ts";
import { ThreadLoop } from "../../../src/messengers/thread/thread-loop.ts";
import type { LoopWork } from "../../../src/messengers/thread/thread-loop.ts";
import type { ThreadRuntimeOptions } from "../../../src/messengers/thread/thread-runtime-options.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const nothing = async (): Promise<undefined> => undefined;

/** A loop whose parts have nothing to do, and the wake-up that would be left if the process died now. */
function createRig(advance: () => Promise<undefined> = nothing) {
  const clock = createVirtualClock(5_000);
  let wakeAt: number | undefined;
  const loop = new ThreadLoop({
    deps: { clock },
    engine: { resumeAll: nothing },
    log: createLog(() => {}),
    wake: {
      at: (at: number) => (wakeAt = Math.min(at, wakeAt ?? at)),
      putOff: (at: number | undefined) => (wakeAt = at),
    },
  } as unknown as ThreadRuntimeOptions);
  loop.start({
    intake: { run: nothing, hasOpen: () => false, hasUnread: () => false },
    runner: { resume: nothing, advance, isBusy: () => false },
    delivery: { run: nothing, nextWakeAt: () => undefined },
    rootNews: { tell: () => {}, tellAgainAt: undefined },
    responses: { run: () => {}, runAgainAt: undefined },
    sweep: { run: () => {} },
  } as unknown as LoopWork);
  return { clock, loop, wakeAt: () => wakeAt };
}

it("keeps the wake-up of a message that no loop has seen when an earlier answer has been delivered (I1)", async () => {
  const { clock, loop, wakeAt } = createRig();
  await loop.drive();
  loop.expect();
  loop.needsLess();
  expect(wakeAt()).toBe(clock.now() + HEARTBEAT_MS);
  await loop.drive();
  expect(wakeAt()).toBeUndefined();
  loop.expect();
  await loop.drive();
  loop.needsLess();
  expect(wakeAt()).toBeUndefined();
});

it("keeps the wake-up of a message that comes while the loop ends (I1)", async () => {
  const rig = createRig(async () => {
    rig.loop.expect();
    return undefined;
  });
  await rig.loop.drive();
  expect(rig.wakeAt()).toBe(rig.clock.now() + HEARTBEAT_MS);
});
