import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { shortWork, ShortWork } from "../../../src/messengers/thread/short-work.ts";
import { WakeUp } from "../../../src/messengers/thread/wake-up.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

describe("the short work of a process", () => {
  it("counts objects that are needed within seconds", () => {
    const work = new ShortWork();
    const [turn, reminder, penalty] = [{}, {}, {}];
    work.note(turn, 2_500, 0);
    work.note(reminder, 86_400_000, 0);
    work.note(penalty, 30_000, 0);
    expect(work.count(0)).toBe(1);
    work.note(turn, 5_000, 2_500);
    expect(work.count(4_000)).toBe(1);
    work.note(turn, undefined, 4_100);
    expect(work.count(4_100)).toBe(0);
  });

  it("forgets an object that died in the middle of it", () => {
    const work = new ShortWork();
    work.note({}, 1_000, 0);
    expect(work.count(20_000)).toBe(1);
    expect(work.count(40_000)).toBe(0);
  });

  it("follows what an object needs, not when its durable wake-up fires", () => {
    const clock = createVirtualClock();
    const count = (): number => shortWork.count(clock.now());
    const wake = new WakeUp({
      clock,
      log: createLog(() => undefined),
      alarm: { set: () => Promise.resolve() },
    });
    const before = count();
    wake.at(clock.now() + 2_500);
    expect(count()).toBe(before + 1);
    // The turn has ended, and only a reminder of tomorrow is left. The wake-up is moved when it fires.
    wake.putOff(clock.now() + 86_400_000);
    expect(count()).toBe(before);
    wake.at(clock.now() + 1_000);
    wake.known(undefined);
    wake.putOff(undefined);
    expect(count()).toBe(before);
  });
});
