import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import type { ToolSet } from "ai";
import { z } from "zod";
import { agentTool } from "../../../src/agent-tools/index.ts";
import { isChild } from "../support/agent-bot.ts";
import { expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { ChildBot as Researcher } from "../worker.ts";

/**
 * The section "Agent tools" of Think's README. `agentTool` is of this package, so that the child can ask people and goes on
 * after a crash: see decision 24.
 */

beforeEach(() => void captureLog());

const research = agentTool(Researcher, {
  description: "Research one topic in depth.",
  inputSchema: z.object({ query: z.string().min(3) }),
  displayName: "Researcher",
});

function createAssistant(query: string): World {
  return createWorld({
    getSystemPrompt: (agent) =>
      isChild(agent)
        ? "Research the requested topic and end with a concise summary."
        : "You are an assistant.",
    getTools: (agent): ToolSet => (isChild(agent) ? {} : { research }),
    script: ({ asker, prompt, said }) => {
      if (isChild({ name: asker })) return [say(`In short: ${said}`)];
      const last = prompt.at(-1);
      return last?.role === "tool" ? [say(JSON.stringify(last.content))] : [callTool("research", { query })];
    },
  });
}

describe("an agent tool", () => {
  it("has the input of its schema", () => {
    type Input = Parameters<NonNullable<typeof research.execute>>[0];
    expectTypeOf<Input>().toEqualTypeOf<{ query: string }>();
  });

  it("gives the child's summary to the model; the child has its own prompt and messages", async () => {
    const world = createAssistant("bees");
    await world.write("c1", "Tell me about bees");
    await expectShown(world, "In short:");
    const asked = world.requests.find(({ asker }) => isChild({ name: asker }));
    expect(JSON.stringify(asked?.prompt)).toContain("Research the requested topic");
    expect(JSON.stringify(asked?.prompt)).not.toContain("Tell me about bees");
    expect(asked?.said).toBe('{\n  "query": "bees"\n}');
  });

  it("refuses an input that does not fit, before there is a child", async () => {
    const world = createAssistant("ab");
    await world.write("c1", "Tell me about ab");
    await expectShown(world, "Too small");
    expect(world.requests.some(({ asker }) => isChild({ name: asker }))).toBe(false);
  });

  it("keeps the child until clearAgentToolRuns() deletes it", async () => {
    const world = createAssistant("bees");
    await world.write("c1", "Tell me about bees");
    await expectShown(world, "In short:");
    const child = world.requests.find(({ asker }) => isChild({ name: asker }))?.asker ?? "";
    const runId = decodeURIComponent(child.split("named:")[1] ?? "");
    await runInDurableObject(world.thread("c1"), async (bot) => {
      expect(bot.hasAgentToolRun(Researcher, runId)).toBe(true);
      await bot.clearAgentToolRuns();
      expect(bot.hasAgentToolRun(Researcher, runId)).toBe(false);
    });
  });
});
