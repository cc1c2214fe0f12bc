import { describe, expect, it } from "vitest";
import { TurnStats } from "../../../src/turn/turn-stats.ts";

describe("what a turn takes", () => {
  it("is counted for each turn by itself", () => {
    const stats = new TurnStats();
    stats.countStep("a");
    stats.countTool("a", "find");
    stats.countTool("a", "reserve");
    stats.countTool("a", "find");
    stats.countStep("a");
    stats.countTokens("a", { input: 10, output: 2 });
    stats.countTokens("a", { input: 15, output: undefined });
    stats.countStep("b");
    expect(stats.of("a")).toEqual({
      steps: 2,
      toolCalls: 3,
      tools: "find reserve",
      inputTokens: 25,
      outputTokens: 2,
    });
    expect(stats.of("b")).toEqual({
      steps: 1,
      toolCalls: 0,
      tools: undefined,
      inputTokens: undefined,
      outputTokens: undefined,
    });
  });

  it("is nothing for a turn that nothing is known of", () => {
    expect(new TurnStats().of("a")).toMatchObject({ steps: 0, toolCalls: 0 });
  });

  it("is forgotten of the oldest turns, so that memory does not grow", () => {
    const stats = new TurnStats();
    for (let turn = 0; turn < 100; turn += 1) stats.countStep(`t${turn}`);
    expect(stats.of("t0").steps).toBe(0);
    expect(stats.of("t99").steps).toBe(1);
  });
});
