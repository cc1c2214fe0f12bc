import { describe, expect, it } from "vitest";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import type { TurnFact } from "../../../src/turn/turn-event.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const STEP: TurnFact = { kind: "step-ended", code: undefined, message: undefined };

function tool(name: string): TurnFact {
  return { kind: "tool-begun", callId: "c", tool: name, input: {} };
}

function answered(input: number, output: number | undefined, cost = 0): TurnFact {
  const usage = { input, output };
  return { kind: "model-ended", provider: "own", model: "own-1", code: undefined, usage, cost };
}

describe("what a turn takes", () => {
  it("is counted for each turn by itself", () => {
    const events = new TurnEvents(createVirtualClock());
    const facts = [STEP, tool("find"), tool("reserve"), tool("find"), STEP, answered(10, 2)];
    for (const fact of facts) events.emit("a", fact);
    events.emit("a", answered(15, undefined, 0.5));
    events.emit("b", STEP);
    events.emit("b", { kind: "step-ended", code: "model-failed", message: undefined });
    expect(events.stats.of("a")).toEqual({
      steps: 2,
      toolCalls: 3,
      tools: "find reserve",
      inputTokens: 25,
      outputTokens: 2,
      cost: 0.5,
    });
    expect(events.stats.of("b")).toEqual({
      steps: 1,
      toolCalls: 0,
      tools: undefined,
      inputTokens: undefined,
      outputTokens: undefined,
    });
  });

  it("is nothing for a turn that nothing is known of", () => {
    expect(new TurnEvents(createVirtualClock()).stats.of("a")).toMatchObject({ steps: 0, toolCalls: 0 });
  });

  it("is forgotten of the oldest turns, so that memory does not grow", () => {
    const events = new TurnEvents(createVirtualClock());
    for (let turn = 0; turn < 100; turn += 1) events.emit(`t${turn}`, STEP);
    expect(events.stats.of("t0").steps).toBe(0);
    expect(events.stats.of("t99").steps).toBe(1);
  });
});
