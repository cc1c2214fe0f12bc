import { expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import { createHarness } from "./engine-harness.ts";

const HOUR_MS = 3_600_000;
const REFUSED_TOKEN: CallFailure = { kind: "misconfigured", code: "token-refused" };
const SERVER_ERROR: CallFailure = { kind: "transient", code: "server-error" };

/** A harness in which the next call of a method is that of the reply `r1`. */
async function beforeCall(method: "post" | "edit"): Promise<ReturnType<typeof createHarness>> {
  const harness = createHarness();
  harness.delivery.open(harness.start("r1"));
  if (method === "edit") {
    harness.delivery.append("r1", "First");
    await harness.advance(1_000);
  }
  return harness;
}

it.each(["post", "edit"] as const)(
  "does not give up for a moment's trouble that follows a weekend with a wrong token (%s)",
  async (method) => {
    const { surface, delivery, advance, visible } = await beforeCall(method);
    surface.faultAlways(method, { kind: "fail", failure: REFUSED_TOKEN });
    delivery.finish("r1", "First, and whole.");
    await advance(60 * HOUR_MS);
    surface.faultAlways(method, undefined);
    surface.fault(method, { kind: "fail", failure: SERVER_ERROR }, { kind: "fail", failure: SERVER_ERROR });
    await advance(3 * 60_000);
    expect(visible()).toEqual(["First, and whole."]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it.each(["post", "edit"] as const)(
  "counts a penalty as no time of failing, so that later messages keep their order (%s)",
  async (method) => {
    const { surface, delivery, start, advance, visible } = await beforeCall(method);
    const penalty: CallFailure = { kind: "retry-after", code: "too-many-requests", retryAfterMs: HOUR_MS };
    const failures = [SERVER_ERROR, penalty, SERVER_ERROR, SERVER_ERROR];
    surface.fault(method, ...failures.map((failure) => ({ kind: "fail", failure }) as const));
    delivery.finish("r1", "First, and whole.");
    delivery.send(start("r2"), "Second.");
    for (let minute = 0; minute < 70; minute += 1) {
      await advance(60_000);
      expect(["", "First", "First, and whole.", "First, and whole. Second."]).toContain(visible().join(" "));
    }
    expect(visible()).toEqual(["First, and whole.", "Second."]);
  },
);

it("gives up in the end when two kinds of failures alternate", async () => {
  const { surface, delivery, start, advance } = createHarness();
  const failures = [REFUSED_TOKEN, SERVER_ERROR];
  surface.post = () => Promise.reject(new Error("refused"));
  let asked = 0;
  surface.classifyError = () => failures[Math.floor((asked += 1) / 30) % 2] ?? SERVER_ERROR;
  delivery.send(start("r1"), "Never.");
  await advance(7 * 24 * HOUR_MS);
  expect(delivery.receipt("r1")?.state).toBe("failed");
});

it.each(["before post", "after post"] as const)(
  "shows a message whose process dies at its post (%s), also when the next one begins days later",
  async (boundary) => {
    const calm = createCrashWorld({ probing: true });
    calm.boot(0).delivery.send(startOf("r1"), "The answer.");
    await calm.clock.advance(1_000);
    const crashAt = calm.boundaries().indexOf(boundary) + 1;
    expect(crashAt).toBeGreaterThan(0);
    const world = createCrashWorld({ probing: true });
    const first = world.boot(crashAt);
    first.delivery.send(startOf("r1"), "The answer.");
    await first.advance(1_000);
    expect(first.isDead()).toBe(true);
    await world.clock.advance(60 * HOUR_MS);
    const second = world.boot(0);
    void second.delivery.run().catch(ignoreCrash);
    await second.advance(60_000);
    expect(world.platform.visible("7")).toEqual(["The answer."]);
    expect(second.delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it("shows a message that was lost on its way before a penalty of more than a day", async () => {
  const { surface, delivery, start, advance, visible } = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
  });
  surface.fault("post", { kind: "lose", done: false });
  surface.fault("probe", {
    kind: "fail",
    failure: { kind: "retry-after", code: "too-many-requests", retryAfterMs: 26 * HOUR_MS },
  });
  delivery.send(start("r1", { seenMessageId: "100" }), "The answer.");
  await advance(27 * HOUR_MS);
  expect(visible()).toEqual(["The answer."]);
});

it.each(["post", "edit"] as const)(
  "does not give up at its first try after the machine was off for days (%s)",
  async (method) => {
    const world = createCrashWorld();
    const first = world.boot(0);
    first.delivery.open(startOf("r1"));
    if (method === "edit") {
      first.delivery.append("r1", "First");
      await first.advance(1_000);
    }
    world.platform.faultAlways(method, { kind: "fail", failure: SERVER_ERROR });
    first.delivery.finish("r1", "First, and whole.");
    await first.advance(20_000);
    first.kill();
    await world.clock.advance(60 * HOUR_MS);
    const second = world.boot(0);
    void second.delivery.run().catch(ignoreCrash);
    await second.advance(30_000);
    world.platform.faultAlways(method, undefined);
    await second.advance(60_000);
    expect(world.platform.visible("7")).toEqual(["First, and whole."]);
  },
);

it.each(["post", "edit"] as const)(
  "does not give up at its first try after the machine has slept for days (%s)",
  async (method) => {
    const { surface, clock, delivery, start, advance, visible } = createHarness();
    delivery.open(start("r1"));
    if (method === "edit") {
      delivery.append("r1", "First");
      await advance(1_000);
    }
    surface.faultAlways(method, { kind: "fail", failure: SERVER_ERROR });
    delivery.finish("r1", "First, and whole.");
    await advance(20_000);
    // No alarm comes.
    expect(clock.nextTimerAt()).toBeUndefined();
    await clock.advance(60 * HOUR_MS);
    void delivery.run();
    await advance(30_000);
    surface.faultAlways(method, undefined);
    await advance(60_000);
    expect(visible()).toEqual(["First, and whole."]);
  },
);

it("searches for a lost message even if the first calls fail after days without power", async () => {
  const world = createCrashWorld({ probing: true });
  const first = world.boot(0);
  world.platform.fault("post", { kind: "hang" });
  first.delivery.send(startOf("r1"), "The answer.");
  await first.advance(1_000);
  first.kill();
  await world.clock.advance(60 * HOUR_MS);
  const failure: Fault = { kind: "fail", failure: SERVER_ERROR };
  world.platform.fault("probe", failure, failure, failure);
  const second = world.boot(0);
  void second.delivery.run().catch(ignoreCrash);
  await second.advance(60_000);
  expect(world.platform.visible("7")).toEqual(["The answer."]);
});

it("reports each refusal of the token, and once that the token works again", async () => {
  const { surface, delivery, start, advance, access } = createHarness();
  surface.faultAlways("post", { kind: "fail", failure: REFUSED_TOKEN });
  delivery.send(start("r1"), "Hello.");
  await advance(10_000);
  expect(access.length).toBeGreaterThan(1);
  expect(new Set(access)).toEqual(new Set(["token-refused"]));
  surface.faultAlways("post", undefined);
  await advance(2 * 60_000);
  delivery.send(start("r2"), "Hello again.");
  await advance(10_000);
  expect(access.filter((code) => code === undefined)).toHaveLength(1);
  expect(access.at(-1)).toBeUndefined();
});
