import { expect, it } from "vitest";
import { createHarness } from "./engine-harness.ts";

/* A refusal that comes when the message is to say something else by now: nothing of the new text is lost for it. */

const LIMITS = { maxLength: 200, maxEntities: 100 };
const LONG = Array.from({ length: 12 }, (_, index) => `Paragraph ${index} has some words in it.`).join(
  "\n\n",
);

it.each([
  ["that is refused", { kind: "rejected", code: "bad-request" }],
  ["whose quoted message is gone", { kind: "missing", code: "quoted-missing" }],
] as const)("shows the new text when the old one is being posted %s", async (_name, failure) => {
  const { surface, delivery, clock, advance, start, visible } = createHarness();
  const replyTo = failure.kind === "missing" ? "55" : undefined;
  surface.fault("post", { kind: "fail", failure });
  delivery.open(start("r1", { replyTo }));
  delivery.finish("r1", "Old and whole.");
  await clock.advance(10);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(1);
  delivery.withdraw("r1");
  delivery.open(start("r2", { takesOver: "r1", replyTo }));
  delivery.finish("r2", "New.");
  await advance(5_000);
  expect(visible()).toEqual(["New."]);
  expect(delivery.receipt("r2")?.state).toBe("delivered");
});

it.each(["post", "edit"] as const)(
  "shows the text that came while an earlier one met its refusal (%s)",
  async (method) => {
    const { surface, delivery, clock, advance, start, visible } = createHarness();
    delivery.open(start("r1"));
    if (method === "edit") {
      delivery.append("r1", "One");
      await advance(1_000);
    }
    surface.fault(method, { kind: "fail", failure: { kind: "rejected", code: "bad-request" } });
    delivery.append("r1", "One, two");
    await clock.advance(10);
    expect(surface.calls.at(-1)).toMatchObject({ method, outcome: "pending" });
    delivery.finish("r1", "One, two, three.");
    await advance(5_000);
    expect(visible()).toEqual(["One, two, three."]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it("shows the text of a restarted call although the old text was being refused", async () => {
  const { surface, delivery, clock, advance, start, visible } = createHarness({
    surface: { limits: LIMITS },
  });
  delivery.open(start("r1"));
  surface.fault("post", { kind: "fail", failure: { kind: "rejected", code: "bad-request" } });
  delivery.append("r1", LONG);
  await clock.advance(10);
  delivery.replace("r1", "Another");
  await advance(1_000);
  delivery.finish("r1", "Another text.");
  await advance(5_000);
  expect(visible()).toEqual(["Another text."]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});
