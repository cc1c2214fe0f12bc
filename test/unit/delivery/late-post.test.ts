import { expect, it } from "vitest";
import { createHarness, MARK } from "./engine-harness.ts";
import { probed, TEXT } from "./probed-harness.ts";

/** A surface that ignores its signal: the post times out after a second, and is answered this much after it began. */
const MOMENTS: readonly [string, number, readonly string[]][] = [
  ["before it is sent again", 2_000, ["Hello there."]],
  ["while it is sent again", 3_030, ["Hello there."]],
  ["never", 0, [`${MARK}\nHello there.`]],
];

it.each(MOMENTS)(
  "shows the text once when a timed out post is answered %s",
  async (_name, answerAfterMs, expected) => {
    const { surface, delivery, advance, start, visible } = createHarness({
      policy: { callTimeoutMs: 1_000 },
    });
    surface.fault("post", answerAfterMs === 0 ? { kind: "hang" } : { kind: "hang", answerAfterMs });
    delivery.open(start("r1"));
    delivery.append("r1", "Hello");
    await advance(100);
    delivery.finish("r1", "Hello there.");
    await advance(10_000);
    expect(visible()).toEqual(expected);
    expect(await delivery.settled("r1")).toBe("delivered");
  },
);

it("removes the marked message when the first one turns up while the reply goes on", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({ policy: { callTimeoutMs: 1_000 } });
  surface.fault("post", { kind: "hang", answerAfterMs: 5_000 });
  delivery.open(start("r1"));
  delivery.append("r1", "Hello");
  await advance(4_000);
  expect(visible()).toEqual([`${MARK}\nHello`]);
  await advance(3_000);
  expect(visible()).toEqual(["Hello"]);
  delivery.finish("r1", "Hello there.");
  await advance(1_000);
  expect(visible()).toEqual(["Hello there."]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("sends without the mark when a timed out post turns out to have been refused", async () => {
  const { surface, delivery, advance, start, visible, clock } = createHarness({
    policy: { callTimeoutMs: 1_000 },
  });
  const post = surface.post.bind(surface);
  let isFirst = true;
  surface.post = async (...call) => {
    if (!isFirst) return post(...call);
    isFirst = false;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_500));
    surface.fault("post", { kind: "fail", failure: { kind: "transient", code: "502" } });
    return post(...call);
  };
  delivery.send(start("r1"), "Hello.");
  await advance(10_000);
  expect(visible()).toEqual(["Hello."]);
});

it("gives a late post to the reply that took it over", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({ policy: { callTimeoutMs: 1_000 } });
  surface.fault("post", { kind: "hang", answerAfterMs: 2_000 });
  delivery.open(start("r1"));
  delivery.append("r1", "Old");
  await advance(1_500);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", "New.");
  await advance(10_000);
  expect(visible()).toEqual(["New."]);
  expect(delivery.receipt("r2")).toMatchObject({ state: "delivered", messages: [{ state: "sent" }] });
});

/** With a time limit of a second, a post may land until three seconds have passed. */
const ANSWERS = [1_001, 1_500, 2_900, 2_999];

it.each(ANSWERS)(
  "goes on as soon as a lost post is answered after all, after %d ms",
  async (answerAfterMs) => {
    const { surface, delivery, advance, start, visible, probes } = probed();
    surface.fault("post", { kind: "hang", answerAfterMs });
    delivery.send(start("r1"), TEXT);
    delivery.send(start("r2"), "Next.");
    await advance(answerAfterMs + 100);
    expect(visible()).toEqual([TEXT, "Next."]);
    await advance(60_000);
    expect(visible()).toEqual([TEXT, "Next."]);
    // Only the look at the likeliest id.
    expect(probes().length).toBeLessThanOrEqual(1);
    expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
  },
);

it.each([...ANSWERS, 3_000, 3_020, 3_050, 3_100, 3_150, 3_250, 3_350, 3_500, 5_000, 20_000])(
  "shows a growing text once when its lost post is made and answered after %d ms, also while it is searched or posted again",
  async (answerAfterMs) => {
    const { surface, delivery, advance, start, visible } = probed();
    surface.fault("post", { kind: "hang", answerAfterMs });
    delivery.open(start("r1"));
    delivery.append("r1", "One two");
    await advance(answerAfterMs + 5_000);
    delivery.finish("r1", TEXT);
    await advance(60_000);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it("posts at once when a lost post turns out to have been refused", async () => {
  const { surface, delivery, advance, start, visible, clock } = probed({ policy: { callTimeoutMs: 1_000 } });
  const post = surface.post.bind(surface);
  let isFirst = true;
  surface.post = async (...call) => {
    if (!isFirst) return post(...call);
    isFirst = false;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_500));
    surface.fault("post", { kind: "fail", failure: { kind: "transient", code: "502" } });
    return post(...call);
  };
  delivery.send(start("r1"), TEXT);
  await advance(2_200);
  expect(visible()).toEqual([TEXT]);
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
});

it("obeys the penalty of a lost post", async () => {
  const { surface, delivery, advance, start, visible, clock } = probed();
  const failure = { kind: "retry-after", code: "429", retryAfterMs: 20_000 } as const;
  const post = surface.post.bind(surface);
  let isFirst = true;
  surface.post = async (...call) => {
    if (!isFirst) return post(...call);
    isFirst = false;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_500));
    surface.fault("post", { kind: "fail", failure });
    return post(...call);
  };
  delivery.send(start("r1"), TEXT);
  await advance(60_000);
  expect(surface.penaltyBreaches).toEqual([]);
  expect(visible()).toEqual([TEXT]);
});
