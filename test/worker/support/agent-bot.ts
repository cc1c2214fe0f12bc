import type { ToolSet } from "ai";
import { z } from "zod";
import { agentTool } from "../../../src/agent-tools/index.ts";
import type { AgentToolOptions } from "../../../src/agent-tools/index.ts";
import type { Think } from "../../../src/index.ts";
import { ChildBot } from "../worker.ts";
import type { OtherBot } from "../worker.ts";
import { callTool, say } from "./scripted-model.ts";
import type { ModelRequest, ModelScript, ModelStep } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

/** Whether an object works for the call of another agent. */
export function isChild({ name }: Pick<Think, "name">): boolean {
  return name.includes("named:");
}

export interface AgentBotOptions extends WorldOptions {
  /** The model of the agents that are called. */
  readonly child: ModelScript;
  readonly tool?: Partial<AgentToolOptions>;
  /** @default `ChildBot`, which has no messengers */
  readonly agentClass?: typeof ChildBot | typeof OtherBot;
}

/**
 * A bot whose model calls `research` when a person writes "Research <topics>", once for each topic, and says what it gets.
 */
export function createAgentBot({ child, tool, agentClass = ChildBot, ...rest }: AgentBotOptions): World {
  const parent: ModelScript = (request) => parentScript(request);
  return createWorld({
    script: (request) => (isChild({ name: request.asker }) ? child(request) : parent(request)),
    getTools: (agent): ToolSet =>
      isChild(agent)
        ? {}
        : {
            research: agentTool(agentClass, {
              description: "Researches a topic.",
              inputSchema: z.object({ topic: z.string() }),
              displayName: "Researcher",
              ...tool,
            }),
          },
    ...rest,
  });
}

function parentScript({ prompt, said }: ModelRequest): ModelStep[] {
  const last = prompt.at(-1);
  if (last?.role === "tool")
    return [
      say(`Tool: ${last.content.map((one) => ("output" in one ? shown(one.output) : "")).join(" and ")}`),
    ];
  const outcome = /^Result: (.*)$/m.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]}`)];
  const topics = /\bresearch (.+)/i.exec(said)?.[1];
  return topics === undefined
    ? [say(`Heard: ${said}`)]
    : topics.split(", ").map((topic) => callTool("research", { topic }));
}

function shown(output: unknown): string {
  const { value } = output as { readonly value?: unknown };
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the topic that an agent is asked for. */
export function topicOf({ said }: ModelRequest): string {
  return /"topic": "([^"]*)"/.exec(said)?.[1] ?? said;
}
