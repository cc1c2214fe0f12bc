import * as fc from "fast-check";
import { expect, it } from "vitest";
import { broughtStories, grantStories, Judge, stories } from "./consent-story.ts";
import type { Story } from "./consent-story.ts";

it("pays back once, and only what somebody allowed has agreed to, in any story (I9)", async () => {
  const totals = { effects: 0, decided: 0, reminded: 0, typed: 0 };
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: stories }, grantStories), async (story) => {
      const told = await new Judge().play(story);
      totals.effects += told.effects;
      totals.decided += told.decided;
      totals.reminded += told.reminded;
      totals.typed += told.typed;
    }),
    { numRuns: 40 },
  );
  expect(totals.effects).toBeGreaterThan(2);
  expect(totals.decided).toBeGreaterThan(4);
  expect(totals.reminded).toBeGreaterThan(0);
  expect(totals.typed).toBeGreaterThan(0);
});

it("keeps to the same when people have cards brought to their own chats (I9)", async () => {
  const totals = { effects: 0, brought: 0 };
  await fc.assert(
    fc.asyncProperty(broughtStories, async (story) => {
      const told = await new Judge().play(story);
      totals.effects += told.effects;
      totals.brought += told.brought;
    }),
    { numRuns: 25 },
  );
  expect(totals.effects).toBeGreaterThan(2);
  expect(totals.brought).toBeGreaterThan(2);
});

it("does not deny a call of a grant that its turn repeats while the outcome is looked for (I9)", async () => {
  const ask = { kind: "ask", person: "anna", order: "1", isPrivate: false, size: 5_000 } as const;
  const press = { kind: "press", place: "here", second: null } as const;
  const story: Story = [
    { ...ask, again: "new", killAt: Infinity },
    { ...press, first: { card: 0, label: 6, person: "dana" }, killAt: Infinity },
    { ...ask, order: "5", again: "new", killAt: 0 },
    { ...ask, order: "7", again: "new", killAt: 3 },
    { kind: "die" },
    { ...ask, again: "same call", killAt: 0 },
    { ...press, first: { card: 0, label: 0, person: "dana" }, killAt: 0 },
    { ...ask, again: "new", killAt: Infinity },
  ];
  expect((await new Judge().play(story)).effects).toBe(2);
});
