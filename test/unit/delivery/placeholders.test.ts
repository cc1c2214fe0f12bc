import { describe, expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { Placeholder } from "../../../src/core/message/placeholder.ts";
import { createDelivery } from "../../../delivery/index.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { createHarness, depsOn, SPEAKER } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const MINUTES = 60_000;

/** A platform that shows a placeholder for message 5, and refuses the calls that replace it with these failures. */
function createPlatform(failures: (CallFailure | "made, but lost")[], removals: CallFailure[] = []) {
  const open = { event: true };
  const harness = createHarness({ isEventOpen: (seq) => seq === 9 && open.event });
  const { surface, clock } = harness;
  const post = surface.post.bind(surface);
  const filled: string[] = [];
  const removedAt: number[] = [];
  const failing = new Error("failing");
  let failure: CallFailure = { kind: "unknown", code: "none" };
  const classify = surface.classifyError.bind(surface);
  Object.assign(surface, {
    async post(...[address, message, options]: Parameters<typeof post>) {
      const { placeholder } = options;
      if (placeholder === undefined) return post(address, message, options);
      const next = failures.shift();
      if (next === undefined || next === "made, but lost") filled.push(message.text);
      if (next === undefined) return { messageId: "777" };
      failure = next === "made, but lost" ? { kind: "unknown", code: "no-answer" } : next;
      throw failing;
    },
    async removePlaceholder({ token }: Placeholder) {
      expect(token).toBe("s3cret");
      removedAt.push(clock.now() - placeholder.shownAt);
      const next = removals.shift();
      if (next === undefined) return;
      failure = next;
      throw failing;
    },
    classifyError: (error: unknown) => (error === failing ? failure : classify(error)),
  });
  const placeholder: Placeholder = {
    messageId: "5",
    token: "s3cret",
    shownAt: clock.now(),
    expiresAt: clock.now() + 15 * MINUTES,
  };
  harness.delivery.expectAnswer("telegram", placeholder, 9);
  const endEvent = async (): Promise<void> => {
    open.event = false;
    await harness.delivery.run();
  };
  return { ...harness, filled, removedAt, endEvent };
}

function answer(harness: Harness, text: string, id = "reply"): void {
  harness.delivery.send(harness.start(id, { seenMessageId: "5", isAwaited: true }), text);
}

const rows = ({ database }: Harness) => database.all("SELECT * FROM placeholder_v1");

describe("a placeholder", () => {
  it("is replaced by the first message that answers, and forgotten", async () => {
    const platform = createPlatform([]);
    answer(platform, "One");
    answer(platform, "Two", "later");
    await platform.advance(10_000);
    expect([platform.filled, platform.visible(), rows(platform)]).toEqual([["One"], ["Two"], []]);
    expect(platform.delivery.receipt("reply")).toMatchObject({
      state: "delivered",
      messages: [{ messageId: "777" }],
    });
    expect(platform.lines.join()).not.toContain("s3cret");
  });

  it("leaves messages alone that answer something else", async () => {
    const platform = createPlatform([]);
    platform.delivery.send(platform.start("other", { seenMessageId: "4" }), "News");
    await platform.advance(10_000);
    expect([platform.filled, platform.visible(), rows(platform).length]).toEqual([[], ["News"], 1]);
  });

  it("is replaced again if the answer was lost, without a mark", async () => {
    const platform = createPlatform(["made, but lost", "made, but lost"]);
    answer(platform, "One");
    await platform.advance(MINUTES);
    expect(platform.filled).toEqual(["One", "One", "One"]);
    expect([platform.visible(), platform.delivery.receipt("reply")?.state]).toEqual([[], "delivered"]);
  });

  it("that is gone leaves an ordinary message", async () => {
    const platform = createPlatform([{ kind: "missing", code: "placeholder-gone" }]);
    answer(platform, "One");
    await platform.advance(MINUTES);
    expect([platform.filled, platform.visible(), rows(platform)]).toEqual([[], ["One"], []]);
  });

  it("that has expired leaves an ordinary message", async () => {
    const platform = createPlatform([]);
    await platform.advance(16 * MINUTES);
    answer(platform, "One");
    await platform.advance(MINUTES);
    expect([platform.filled, platform.visible(), rows(platform)]).toEqual([[], ["One"], []]);
  });

  it("is removed when its event ends without a reply, at once and once", async () => {
    const platform = createPlatform([]);
    await platform.advance(10_000);
    expect(platform.removedAt).toEqual([]);
    await platform.endEvent();
    await platform.advance(15 * MINUTES);
    expect([platform.removedAt, rows(platform), platform.wakeAt()]).toEqual([[10_000], [], undefined]);
  });

  it("is not removed while a reply may replace it", async () => {
    const platform = createPlatform([{ kind: "retry-after", code: "flood", retryAfterMs: MINUTES }]);
    answer(platform, "One");
    await platform.advance(1000);
    await platform.endEvent();
    await platform.advance(2 * MINUTES);
    expect([platform.filled, platform.removedAt, rows(platform)]).toEqual([["One"], [], []]);
  });

  it("is removed after its reply has failed", async () => {
    const platform = createPlatform([{ kind: "rejected", code: "bad-request" }]);
    answer(platform, "One");
    await platform.endEvent();
    await platform.advance(MINUTES);
    expect(platform.delivery.receipt("reply")?.state).toBe("failed");
    expect([platform.removedAt.length, rows(platform)]).toEqual([1, []]);
  });

  it("is removed again until that succeeds, and no reply takes it meanwhile", async () => {
    const unshown: CallFailure = { kind: "transient", code: "placeholder-not-shown" };
    const flood: CallFailure = { kind: "retry-after", code: "flood", retryAfterMs: 30_000 };
    const platform = createPlatform([], [unshown, flood]);
    await platform.endEvent();
    answer(platform, "Late");
    await platform.advance(MINUTES);
    expect([platform.filled, platform.visible()]).toEqual([[], ["Late"]]);
    expect([platform.removedAt, rows(platform)]).toEqual([[0, 1000, 31_000], []]);
    expect(platform.lines.join()).not.toContain("s3cret");
  });

  it("is removed by the next process", async () => {
    const first = createPlatform([], [{ kind: "unknown", code: "no-answer" }]);
    await first.endEvent();
    const removed: string[] = [];
    const surface = { ...first.surface, removePlaceholder: async () => void removed.push("removed") };
    const delivery = createDelivery({
      database: first.database,
      deps: depsOn(first.clock),
      log: createLog(() => undefined),
      gates: { speaker: SPEAKER, gateOf: () => first.gate },
      messengers: { surface: () => surface },
      onWake: () => undefined,
      isEventOpen: () => false,
    });
    expect(delivery.nextWakeAt()).toBe(undefined);
    await delivery.run();
    expect([removed, rows(first)]).toEqual([["removed"], []]);
  });

  it("is left alone after its time", async () => {
    const platform = createPlatform([]);
    await platform.advance(16 * MINUTES);
    await platform.endEvent();
    expect([platform.removedAt, rows(platform), platform.wakeAt()]).toEqual([[], [], undefined]);
  });
});
