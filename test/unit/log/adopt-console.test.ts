import { describe, expect, it } from "vitest";
import { adoptConsole } from "../../../src/log/adopt-console.ts";
import { SwitchboardError } from "../../../src/core/base/errors.ts";
import { createLog } from "../../../src/core/base/log.ts";

function createRig({ isDebug = false } = {}) {
  const printed: unknown[][] = [];
  const lines: Record<string, unknown>[] = [];
  const target = {
    error: (...values: unknown[]) => void printed.push(values),
    warn: (...values: unknown[]) => void printed.push(values),
  };
  const log = createLog(
    (_level, line) => lines.push(JSON.parse(line) as Record<string, unknown>),
    isDebug ? { reveal: (words) => words } : {},
  );
  adoptConsole(target, log);
  return { printed, lines, log, target };
}

describe("what the agents package prints", () => {
  it("is a line with the kind and place of the error, and nothing of its message (I10)", () => {
    const { lines, printed, target } = createRig();
    target.error("ThinkHarness operation 5f-1 failed", new TypeError("psst"));
    target.warn("ThinkHarness could not compact the session", new RangeError("psst"));
    expect(printed).toEqual([]);
    expect(lines).toMatchObject([
      {
        level: "error",
        event: "agents.failed",
        about: "ThinkHarness operation failed",
        turn: "5f-1",
        code: "TypeError",
        at: expect.stringContaining("adopt-console.test.ts") as unknown,
      },
      {
        level: "warn",
        event: "agents.warning",
        about: "ThinkHarness could not compact the session",
        code: "RangeError",
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("psst");
  });

  it.each([
    ['Error in streaming method "psst":', "Error in streaming method"],
    ["[Sessions] auto-compaction failed: psst", "[Sessions] auto"],
    ['error executing callback "psst" after 3 attempts', "error executing callback"],
    ['[Agent] Managed fiber "psst" (1) failed:', "[Agent] Managed fiber"],
    ["RPC error:", "RPC error"],
  ])("says of %j only its plain words", (words, about) => {
    const { lines, target } = createRig();
    target.error(words, new Error("psst"));
    expect(lines).toMatchObject([{ event: "agents.failed", about, code: "Error" }]);
    expect(JSON.stringify(lines)).not.toContain("psst");
  });

  it("has the message in development", () => {
    const { lines, target } = createRig({ isDebug: true });
    target.error("ThinkHarness drive failed", new Error("the disk", { cause: new Error("is slow") }));
    target.warn("[Agent] Corrupted snapshot for fiber 5");
    expect(lines).toMatchObject([
      { message: "the disk (cause) is slow" },
      { message: "[Agent] Corrupted snapshot for fiber 5" },
    ]);
  });

  it("is left out where the failure has a line already", () => {
    const { lines, printed, target } = createRig();
    target.error(
      "ThinkHarness operation 5 failed",
      new SwitchboardError("bot-code-failed", "Its log says more."),
    );
    target.error("ThinkHarness operation 5 failed", Object.assign(new Error("x"), { retryable: false }));
    expect([lines, printed]).toEqual([[], []]);
  });
});

describe("what anybody else prints", () => {
  it("stays as it is", () => {
    const { lines, printed, target } = createRig();
    const error = new Error("mine");
    target.error("My agent failed", error);
    target.warn({ a: 1 }, "ThinkHarness operation 1 failed");
    target.error();
    expect(lines).toEqual([]);
    expect(printed).toEqual([["My agent failed", error], [{ a: 1 }, "ThinkHarness operation 1 failed"], []]);
  });

  it("is printed once, however often the console is adopted", () => {
    const { lines, log, printed, target } = createRig();
    adoptConsole(target, log);
    target.error("mine");
    target.error("ThinkHarness drive failed", new Error("x"));
    expect(printed).toHaveLength(1);
    expect(lines).toHaveLength(1);
  });
});
