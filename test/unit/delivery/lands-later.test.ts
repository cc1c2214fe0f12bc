import * as fc from "fast-check";
import { expect, it } from "vitest";
import { ADDRESS } from "./engine-harness.ts";
import { probed, TEXT } from "./probed-harness.ts";

/** How much later than its time limit a post may still be made. */
const LANDS_LATE_MS = 2_000;

interface LostPost {
  readonly limitMs: number;
  /** Of the time until it cannot land any more. */
  readonly share: number;
  /** The connection is cut at once, or nothing is ever heard. */
  readonly isCut: boolean;
  readonly isOwnBox: boolean;
  readonly isStreaming: boolean;
  readonly hasNext: boolean;
  /** Messages of others that come before it and after it, and are told. */
  readonly before: number;
  readonly after: number;
  readonly isGateElsewhere: boolean;
}

async function showsOnce(lost: LostPost): Promise<void> {
  const { after, before, hasNext, isCut, isGateElsewhere, isOwnBox, isStreaming, limitMs, share } = lost;
  const { surface, delivery, start, visible, advance, root } = probed({
    isOwnGate: !isGateElsewhere,
    surface: { probing: isOwnBox ? "own-box" : true },
    policy: { callTimeoutMs: limitMs },
  });
  const address = { ...ADDRESS, isDirectMessage: !isOwnBox };
  const others = (count: number): void => {
    for (let other = 0; other < count; other += 1) {
      root.noteIncoming("telegram", isOwnBox ? "7" : "common", !isOwnBox, [Number(surface.numberForOther())]);
    }
  };
  await advance(60_000);
  surface.fault("post", isCut ? { kind: "lose", done: false } : { kind: "hang" });
  const landsAfterMs = Math.floor(share * (limitMs + LANDS_LATE_MS));
  if (isStreaming) {
    delivery.open(start("r1", { address }));
    delivery.append("r1", "One two");
  } else delivery.send(start("r1", { address }), TEXT);
  if (hasNext) delivery.send(start("r2", { address }), "Next.");
  await advance(0);
  const post = surface.calls.find(({ method }) => method === "post");
  await advance(Math.max(0, landsAfterMs - 1));
  others(before);
  const late = surface.postForeign("7", post?.text ?? "");
  others(after);
  await advance(1);
  if (isStreaming) delivery.finish("r1", TEXT);
  await advance(5 * 60_000);
  const isNextFirst = isStreaming && hasNext;
  expect(visible().toSorted()).toEqual((hasNext ? [TEXT, "Next."] : [TEXT]).toSorted());
  // A notice does not wait for a reply that streams, but for one that is whole.
  if (!isNextFirst) expect(visible()[0]).toBe(TEXT);
  expect(delivery.receipt("r1")).toMatchObject({
    state: "delivered",
    messages: [{ messageId: late, attempts: 1, state: "sent" }],
  });
}

const MOMENTS = [0.001, 0.05, 0.3, 0.6, 0.745, 0.751, 0.8, 0.9, 0.95, 0.999];

it.each(MOMENTS)("shows a post once that lands when %d of its time is over", async (share) => {
  expect.hasAssertions();
  const plain = {
    limitMs: 6_000,
    share,
    isCut: false,
    isOwnBox: false,
    isStreaming: false,
    hasNext: true,
    before: 0,
    after: 0,
    isGateElsewhere: false,
  };
  for (const isCut of [false, true]) {
    for (const isOwnBox of [false, true]) {
      await showsOnce({ ...plain, isCut, isOwnBox });
      await showsOnce({ ...plain, isCut, isOwnBox, isStreaming: true });
    }
  }
});

it("shows a post once if it lands within two seconds after its time limit, whatever else happens", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record<LostPost>({
        limitMs: fc.constantFrom(1_000, 6_000, 15_000, 25_000),
        share: fc.double({ min: 0.001, max: 0.9999, noNaN: true }),
        isCut: fc.boolean(),
        isOwnBox: fc.boolean(),
        isStreaming: fc.boolean(),
        hasNext: fc.boolean(),
        before: fc.integer({ min: 0, max: 4 }),
        after: fc.integer({ min: 0, max: 4 }),
        isGateElsewhere: fc.boolean(),
      }),
      showsOnce,
    ),
    { numRuns: 150 },
  );
});

it("posts nothing until the post can no longer land, and then posts once", async () => {
  for (const limitMs of [1_000, 6_000, 15_000]) {
    const { surface, delivery, start, visible, advance, clock } = probed({
      policy: { callTimeoutMs: limitMs },
    });
    await advance(60_000);
    surface.fault("post", { kind: "hang" });
    const begunAt = clock.now();
    delivery.send(start("r1"), TEXT);
    delivery.send(start("r2"), "Next.");
    await advance(5 * 60_000);
    expect(visible()).toEqual([TEXT, "Next."]);
    const [first, second, ...others] = surface.calls
      .filter(({ method }) => method === "post")
      .map(({ at }) => at - begunAt);
    expect(first).toBe(0);
    expect(second).toBeGreaterThanOrEqual(limitMs + LANDS_LATE_MS);
    expect(second).toBeLessThanOrEqual(limitMs + LANDS_LATE_MS + 3_000);
    expect(others).toHaveLength(1);
    expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 2 }] });
  }
});
