import { expect, it } from "vitest";
import { createHarness, MARK } from "./engine-harness.ts";

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

it("lets a late post follow the reply that took it over", async () => {
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

it("takes away a late message that the text has no use for any more, and holds nothing for it", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({
    surface: { limits: { maxLength: 200, maxEntities: 100 } },
    policy: { callTimeoutMs: 2_000 },
  });
  surface.fault("post", undefined, { kind: "hang", answerAfterMs: 8_000 });
  delivery.open(start("r1"));
  delivery.append("r1", `${"One two three four five. ".repeat(6)}\n\n${"Six seven eight nine. ".repeat(6)}`);
  await advance(2_000);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(2);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", "New.");
  delivery.send(start("n1"), "A notice.");
  await advance(5_000);
  expect(visible()).toEqual(["New.", "A notice."]);
  expect(delivery.receipt("n1")?.state).toBe("delivered");
  await advance(30_000);
  expect(surface.calls.filter(({ method }) => method === "remove")).toHaveLength(1);
  expect(visible()).toEqual(["New.", "A notice."]);
  expect(delivery.receipt("r2")?.state).toBe("delivered");
});
