import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { expectedMessages } from "./engine-harness.ts";
import { harnessOf, LIMITS, methodsOf, TEXT } from "./mode-harness.ts";

const LINE = "⏳ Reading page 3 40 %";
const SAID = "I look at the export.";

describe("a line of progress", () => {
  it("stands below the answer so far, changes in its place, and goes when the work ends", async () => {
    const { delivery, advance, start, visible } = harnessOf("edit");
    delivery.open(start("r1"));
    delivery.append("r1", SAID);
    await advance(2_000);
    delivery.progress("r1", "⏳ Reading page 1");
    await advance(2_000);
    expect(visible()).toEqual([`${SAID}\n\n⏳ Reading page 1`]);
    delivery.progress("r1", LINE);
    await advance(2_000);
    expect(visible()).toEqual([`${SAID}\n\n${LINE}`]);
    delivery.progress("r1", undefined);
    await advance(2_000);
    expect(visible()).toEqual([SAID]);
  });

  it("is a message of its own before the first word, and the answer takes its place", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("edit");
    delivery.open(start("r1"));
    delivery.progress("r1", LINE);
    await advance(2_000);
    expect(visible()).toEqual([LINE]);
    delivery.finish("r1", SAID);
    await advance(2_000);
    expect(visible()).toEqual([SAID]);
    expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(1);
  });

  it("leaves nothing when the answer is empty", async () => {
    const { delivery, advance, start, visible } = harnessOf("edit");
    delivery.open(start("r1"));
    delivery.progress("r1", LINE);
    await advance(2_000);
    delivery.finish("r1", "");
    await advance(2_000);
    expect(visible()).toEqual([]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });

  it("is in the draft where answers are drafts", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("draft");
    delivery.open(start("r1"));
    delivery.append("r1", SAID);
    delivery.progress("r1", LINE);
    await advance(2_000);
    expect(surface.draft("7")).toBe(`${SAID}\n\n${LINE}`);
    delivery.finish("r1", SAID);
    await advance(2_000);
    expect(visible()).toEqual([SAID]);
  });

  it.each<[DeliveryMode, object]>([
    ["edit", { capabilities: { edit: false, remove: false } }],
    ["native", { streams: true }],
    ["final-only", {}],
  ])("is the typing indicator where nothing can show it: %s %j", async (mode, surface) => {
    const harness = harnessOf(mode, surface);
    const { delivery, advance, start, visible } = harness;
    const typed = (): number => harness.surface.calls.filter(({ method }) => method === "typing").length;
    delivery.open(start("r1"));
    delivery.append("r1", TEXT);
    await advance(10_000);
    const before = [...visible()];
    const calls = typed();
    for (let second = 0; second < 20; second += 1) {
      delivery.progress("r1", `${LINE} ${second}`);
      await advance(1_000);
    }
    expect(typed()).toBeGreaterThan(calls);
    expect(visible()).toEqual(before);
    delivery.progress("r1", undefined);
    const after = typed();
    if (before.length > 0) {
      await advance(20_000);
      expect(typed()).toBe(after);
    }
    delivery.finish("r1", TEXT);
    await advance(20_000);
    expect(visible()).toEqual(expectedMessages(TEXT, LIMITS));
  });

  it("is edited no more often than text, however often it changes", async () => {
    const harness = harnessOf("edit");
    const { delivery, advance, start } = harness;
    delivery.open(start("r1"));
    delivery.append("r1", SAID);
    await advance(1_000);
    for (let at = 0; at < 1_000; at += 1) {
      delivery.progress("r1", `⏳ Row ${at}`);
      await advance(10);
    }
    expect(harness.surface.calls.filter(({ method }) => method === "edit").length).toBeLessThanOrEqual(16);
    expect(methodsOf(harness)).not.toContain("remove");
  });

  it("changes nothing in the whole answer, whatever it was and whenever it came", async () => {
    const step = fc.oneof(
      fc.constant({ kind: "text" as const }),
      fc.record({ kind: fc.constant("line" as const), line: fc.option(fc.lorem(), { nil: undefined }) }),
      fc.constant({ kind: "wait" as const }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.constantFrom<DeliveryMode>("edit", "draft", "native", "buffered"),
        async (steps, mode) => {
          const { delivery, advance, start, visible } = harnessOf(mode, { streams: true });
          delivery.open(start("r1"));
          let at = 0;
          for (const one of steps) {
            if (one.kind === "text") delivery.append("r1", TEXT.slice(at, (at += 40)));
            else if (one.kind === "line") delivery.progress("r1", one.line);
            else await advance(900);
          }
          delivery.finish("r1", TEXT);
          await advance(60_000);
          expect(visible()).toEqual(expectedMessages(TEXT, LIMITS));
          expect(delivery.receipt("r1")?.state).toBe("delivered");
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("the progress of a run outside of a turn", () => {
  it("is a message of its own that holds up no answer, and is gone with its end", async () => {
    const { delivery, advance, start, visible } = harnessOf("edit");
    delivery.open({ ...start("run"), isAside: true });
    delivery.progress("run", "⏳ Row 1");
    await advance(2_000);
    delivery.open(start("r1"));
    delivery.append("r1", SAID);
    await advance(2_000);
    delivery.finish("r1", SAID);
    delivery.progress("run", LINE);
    await advance(2_000);
    expect(visible()).toEqual([LINE, SAID]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
    delivery.finish("run", "");
    await advance(2_000);
    expect(visible()).toEqual([SAID]);
  });

  it("does not wait for a running answer", async () => {
    const { delivery, advance, start, visible } = harnessOf("edit");
    delivery.open(start("r1"));
    delivery.append("r1", SAID);
    await advance(2_000);
    delivery.open({ ...start("run"), isAside: true });
    delivery.progress("run", LINE);
    await advance(2_000);
    expect(visible()).toEqual([SAID, LINE]);
  });

  it("is the typing indicator where messages cannot be changed, and posts nothing", async () => {
    const harness = harnessOf("edit", { capabilities: { edit: false, remove: false } });
    const { delivery, advance, start } = harness;
    delivery.open({ ...start("run"), isAside: true });
    for (let second = 0; second < 20; second += 1) {
      delivery.progress("run", `${LINE} ${second}`);
      await advance(1_000);
    }
    delivery.finish("run", "");
    await advance(2_000);
    expect(methodsOf(harness)).toEqual(["typing"]);
    const typed = harness.surface.calls.length;
    await advance(30_000);
    expect(harness.surface.calls).toHaveLength(typed);
  });
});
