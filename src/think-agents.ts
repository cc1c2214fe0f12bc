import type { Agent, DynamicAgentClass } from "agents";
import type { DetachedRunAgentToolResult, RunAgentToolOptions, RunAgentToolResult } from "agents/agent-tools";
import type { AgentToolsFeature } from "./agent-tools/agent-tools-feature.ts";
import type { RunFilter } from "./agent-tools/run-filter.ts";
import { agentNamespace } from "./agent/agent-namespace.ts";
import { AGENT_TOOLS } from "./agent/features.ts";
import { objectOf } from "./agent/bot-object.ts";
import { ThinkMembers } from "./think-members.ts";

/** The members of `Think` about runs of other agents. They need `import "switchboard/agent-tools"`. */
export abstract class ThinkAgents<
  Env extends Cloudflare.Env = Cloudflare.Env,
  State = unknown,
> extends ThinkMembers<Env, State> {
  /**
   * Gives a task to another agent, and resolves with its result. With `detached` it resolves at once. A call with a known
   * `runId` joins that run. The agent cannot ask people: for that, give the model an `agentTool`.
   *
   * @throws {ConfigurationError} `feature-missing` without the import, `agent-class-not-bound`
   */
  override async runAgentTool(
    agentClass: DynamicAgentClass,
    options: RunAgentToolOptions,
  ): Promise<RunAgentToolResult<never> & DetachedRunAgentToolResult> {
    const result =
      agentClass.prototype instanceof ThinkAgents
        ? this.#agentTools.run(agentClass, options)
        : super.runAgentTool(agentClass, options);
    return (await result) as RunAgentToolResult<never> & DetachedRunAgentToolResult;
  }

  /** Ends a run of another agent that this agent has begun. */
  override async cancelAgentTool(runId: string): Promise<void> {
    this.#agentTools.runs.leave(runId);
    await objectOf(this).durable();
  }

  /** Whether this agent has begun a run that is kept. */
  override hasAgentToolRun(agent: string | DynamicAgentClass, runId: string): boolean {
    const name = typeof agent === "string" ? agent : agent.name;
    return this.#agentTools.runs.store.get(runId)?.agentClass === name;
  }

  /**
   * Forgets runs of other agents, with everything that their objects keep. Those that are not over are ended.
   *
   * @param which only runs that ended so, and began before `olderThan` (epoch milliseconds). @default all
   */
  override async clearAgentToolRuns(which: RunFilter = {}): Promise<void> {
    await this.#agentTools.runs.clear(which);
  }

  /**
   * Returns the agent for whose call this object works.
   *
   * @throws {ConfigurationError} `parent-missing` if it works for no agent, or for one of another class
   */
  override async parentAgent<T extends Agent>(
    agentClass: DynamicAgentClass<T>,
  ): Promise<DurableObjectStub<T>> {
    const name = objectOf(this).objects.nameOf(this.#agentTools.parentOf(agentClass.name));
    const parent = agentNamespace(this.ctx, this.env, agentClass.name).getByName(name);
    return parent as unknown as DurableObjectStub<T>;
  }

  get #agentTools(): AgentToolsFeature {
    return objectOf(this).features.get(AGENT_TOOLS);
  }
}
