import { describe, expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { createHarness } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";
import { harnessOf, stream } from "./mode-harness.ts";
import { probed, TEXT } from "./probed-harness.ts";

/** What a user sees of the rules for calls that have no row of their own. The rows' rules are in `errors.test.ts`. */
const KINDS = [
  "retry-after",
  "transient",
  "unknown",
  "gone",
  "missing",
  "unchanged",
  "rejected",
  "misconfigured",
] as const;
type Kind = (typeof KINDS)[number];

const RETRY_AFTER_MS = 20_000;

const fail = (kind: Kind): Fault => ({
  kind: "fail",
  failure: failureOf(kind),
});

const failureOf = (kind: Kind): CallFailure =>
  kind === "retry-after"
    ? { kind, code: "429", retryAfterMs: RETRY_AFTER_MS }
    : { kind, code: `${kind}-code` };

const callsOf = ({ surface }: Harness, method: string): number[] =>
  surface.calls.filter((call) => call.method === method).map(({ at }) => at);

/** Nothing reaches the chat during a penalty, and everything is there after it. */
function expectPenaltyKept(harness: Harness, method: string): void {
  const { surface } = harness;
  expect(surface.penaltyBreaches).toEqual([]);
  const refusedAt = callsOf(harness, method)[0] ?? 0;
  const during = surface.calls.filter(({ at }) => at > refusedAt && at < refusedAt + RETRY_AFTER_MS);
  expect(during.map((call) => call.method)).toEqual([]);
}

describe("typing", () => {
  it.each(KINDS)("is not repeated, and holds up nothing: %s", async (kind) => {
    const harness = createHarness();
    const { surface, delivery, start, advance, visible } = harness;
    await advance(60_000);
    surface.fault("typing", fail(kind));
    delivery.open(start("r1"));
    await advance(3_000);
    expect(callsOf(harness, "typing")).toHaveLength(1);
    delivery.append("r1", "Text");
    if (kind === "retry-after") {
      await advance(RETRY_AFTER_MS);
      expectPenaltyKept(harness, "typing");
    }
    await advance(1_000);
    expect(visible()).toEqual(["Text"]);
    delivery.finish("r1", "Text.");
    await advance(2_000);
    expect(visible()).toEqual(["Text."]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });
});

describe("the answer of a press", () => {
  const AGAIN: ReadonlySet<Kind> = new Set(["retry-after", "transient", "unknown"]);

  it.each(KINDS)("is repeated only if it may not have arrived, and after a penalty: %s", async (kind) => {
    const harness = createHarness();
    const { surface, delivery, start, advance } = harness;
    surface.fault("answer", fail(kind));
    const answered = delivery.answerAction(start("r1").address, { id: "press" });
    await advance(5_000);
    // A penalty is the chat's, whoever has met it.
    delivery.send(start("r2"), TEXT);
    await advance(1_000);
    expect(harness.visible()).toEqual(kind === "retry-after" ? [] : [TEXT]);
    await advance(RETRY_AFTER_MS);
    expect(harness.visible()).toEqual([TEXT]);
    await expect(answered).resolves.toBe(AGAIN.has(kind));
    expect(callsOf(harness, "answer")).toHaveLength(AGAIN.has(kind) ? 2 : 1);
    expect(surface.penaltyBreaches).toEqual([]);
  });
});

describe("a draft", () => {
  const LATER: ReadonlySet<Kind> = new Set(["transient", "unknown"]);

  it.each(KINDS)("is shown again, or replaced by a growing message: %s", async (kind) => {
    const harness = harnessOf("draft");
    const { surface, delivery, start, advance, visible } = harness;
    await advance(60_000);
    surface.fault("draft", fail(kind));
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think about it");
    await advance(5_000);
    if (kind === "retry-after") {
      expect(visible()).toEqual([]);
      await advance(RETRY_AFTER_MS);
      expectPenaltyKept(harness, "draft");
      expect(surface.draft("7")).toBe("Let me think about it");
    } else if (LATER.has(kind)) {
      expect(surface.draft("7")).toBe("Let me think about it");
      expect(visible()).toEqual([]);
    } else if (kind === "unchanged") {
      // It shows this already.
      expect(callsOf(harness, "draft")).toHaveLength(1);
      expect(visible()).toEqual([]);
    } else {
      expect(callsOf(harness, "draft")).toHaveLength(1);
      expect(visible()).toEqual(["Let me think about it"]);
    }
    delivery.finish("r1", "Let me think about it. Yes.");
    await advance(5_000);
    expect(visible()).toEqual(["Let me think about it. Yes."]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });
});

const ANSWER = "The lamp went out at nine, and nobody in the house noticed it.";

describe("an addition to a streamed message", () => {
  it.each(KINDS)("is repeated only if it was certainly not made: %s", async (kind) => {
    const harness = harnessOf("native", { streams: true });
    const { surface, delivery, start, advance, visible } = harness;
    surface.fault("append", fail(kind));
    delivery.open(start("r1"));
    await stream(harness, ANSWER);
    if (kind === "retry-after") expectPenaltyKept(harness, "append");
    delivery.finish("r1", ANSWER);
    await advance(60_000);
    expect(surface.penaltyBreaches).toEqual([]);
    if (kind === "gone") {
      expect(delivery.receipt("r1")).toMatchObject({ state: "gone", code: "gone-code" });
      return;
    }
    expect(visible()).toEqual([ANSWER]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
    const isContinued = kind === "transient" || kind === "retry-after";
    // Otherwise an edit says the whole text.
    if (isContinued) expect(callsOf(harness, "append").length).toBeGreaterThan(1);
    else expect(callsOf(harness, "append")).toHaveLength(1);
    expect(callsOf(harness, "edit").length > 0).toBe(!isContinued);
  });
});

describe("the end of a stream", () => {
  it.each(KINDS)("is repeated until it works, or an edit finds out the reason: %s", async (kind) => {
    const harness = harnessOf("native", { streams: true });
    const { surface, delivery, start, advance, visible } = harness;
    surface.fault("end", fail(kind));
    delivery.open(start("r1"));
    await stream(harness, ANSWER);
    delivery.finish("r1", ANSWER);
    await advance(120_000);
    expect(surface.penaltyBreaches).toEqual([]);
    if (kind === "gone") {
      expect(delivery.receipt("r1")).toMatchObject({ state: "gone", code: "gone-code" });
      return;
    }
    expect(visible()).toEqual([ANSWER]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
    const isAbandoned = kind === "missing" || kind === "unchanged";
    expect(callsOf(harness, "end")).toHaveLength(isAbandoned ? 1 : 2);
    expect(callsOf(harness, "edit").length > 0).toBe(isAbandoned);
  });

  it("is tried five times if the platform refuses it, and then an edit sends the whole text", async () => {
    const harness = harnessOf("native", { streams: true });
    const { surface, delivery, start, advance, visible } = harness;
    surface.fault("end", ...Array.from({ length: 5 }, () => fail("rejected")));
    delivery.open(start("r1"));
    await stream(harness, ANSWER);
    delivery.finish("r1", ANSWER);
    await advance(120_000);
    expect(callsOf(harness, "end")).toHaveLength(5);
    expect(callsOf(harness, "edit").length).toBeGreaterThan(0);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
    expect(visible().at(-1)).toBe(ANSWER);
  });
});

describe("a question about a lost post", () => {
  it.each(KINDS)("is asked again, or the search cannot tell: %s", async (kind) => {
    const harness = probed();
    const { surface, delivery, start, advance, visible } = harness;
    // The look finds nothing, and the first question of the search meets the failure.
    surface.numberForOther();
    surface.fault("post", { kind: "lose", done: true });
    surface.fault("probe", undefined, fail(kind));
    delivery.send(start("r1"), TEXT);
    await advance(120_000);
    expect(surface.penaltyBreaches).toEqual([]);
    if (kind === "gone") {
      expect(delivery.receipt("r1")).toMatchObject({ state: "gone", code: "gone-code" });
      expect(visible()).toEqual([TEXT]);
      return;
    }
    const isUndecided = kind === "missing" || kind === "unchanged" || kind === "rejected";
    expect(visible()).toEqual(isUndecided ? [TEXT, expect.stringContaining(TEXT)] : [TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({
      state: "delivered",
      messages: [{ attempts: isUndecided ? 2 : 1 }],
    });
  });

  it.each(KINDS.filter((kind) => kind !== "gone" && kind !== "retry-after"))(
    "decides nothing when it is the look at the likeliest id: %s",
    async (kind) => {
      const { surface, delivery, start, advance, visible } = probed();
      surface.fault("post", { kind: "lose", done: true });
      surface.fault("probe", fail(kind));
      delivery.send(start("r1"), TEXT);
      await advance(60_000);
      expect(visible()).toEqual([TEXT]);
      expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
    },
  );
});
