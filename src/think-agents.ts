import type { Agent, DynamicAgentClass } from "agents";
import type { DetachedRunAgentToolResult, RunAgentToolOptions, RunAgentToolResult } from "agents/agent-tools";
import type { AgentStub } from "./agent/agent-stub.ts";
import { OBJECT } from "./messengers/root/object-calls.ts";
import { ConfigurationError } from "./core/base/errors.ts";
import {
  listedConversationName,
  namedConversationName,
  parseObjectAddress,
} from "./messengers/declare/conversation-name.ts";
import type { DirectoryEntry } from "./messengers/root/root-store.ts";
import type { AgentToolsFeature } from "./agent-tools/agent-tools-feature.ts";
import type { RunFilter } from "./agent-tools/run-filter.ts";
import { agentNamespace } from "./agent/agent-namespace.ts";
import { AGENT_TOOLS } from "./agent/features.ts";
import { objectOf } from "./agent/bot-object.ts";
import { ThinkMembers } from "./think-members.ts";

/** The members of `Think` about other agents. Runs of agents need `import "switchboard/agent-tools"`. */
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

  /**
   * Returns an agent by class and name. For a `Think` class it is a separate top-level object, `<this root>/<name>`.
   * For any other class it is the base class's sub-agent.
   */
  override async subAgent<T extends Agent>(
    agentClass: DynamicAgentClass<T>,
    name: string,
  ): Promise<AgentStub<T>> {
    if (!(agentClass.prototype instanceof ThinkAgents)) {
      // oxlint-disable-next-line typescript/no-deprecated -- this override is what keeps the seed's name alive
      return (await super.subAgent(agentClass, name)) as AgentStub<T>;
    }
    const conversation = namedConversationName(name, "subAgent()");
    const { objects } = objectOf(this);
    const address = agentClass === this.constructor ? conversation : `${agentClass.name}@${conversation}`;
    // Its chats have their gates and their rate in the objects of this bot.
    if (address !== conversation) await objects.to(OBJECT, address).belongTo(objects.rootClass());
    return this.#agentOf(agentClass, conversation);
  }

  /**
   * Returns the agent of a conversation, by its name in `listConversations()`.
   *
   * @throws {ConfigurationError} `conversation-name-invalid` when no conversation can have this name,
   * `agent-class-invalid` when the name begins with another class
   * @example const agent = this.conversationAgent(MyBot, this.listConversations()[0].name);
   */
  conversationAgent<T extends Agent>(agentClass: DynamicAgentClass<T>, name: string): AgentStub<T> {
    const { className = agentClass.name } = parseObjectAddress(name);
    if (className !== agentClass.name)
      throw new ConfigurationError(
        "agent-class-invalid",
        `The conversation has the class ${className}. Call conversationAgent(${className}, name).`,
      );
    return this.#agentOf(agentClass, listedConversationName(name, "conversationAgent()"));
  }

  #agentOf<T extends Agent>(agentClass: DynamicAgentClass<T>, conversation: string): AgentStub<T> {
    const objectName = objectOf(this).objects.nameOf(conversation);
    const stub = agentNamespace(this.ctx, this.env, agentClass.name).getByName(objectName);
    return stub as unknown as AgentStub<T>;
  }

  /** Returns the conversations of this root, most recently active first. */
  listConversations(limit = 100): DirectoryEntry[] {
    return objectOf(this).directories.directory(limit);
  }

  get #agentTools(): AgentToolsFeature {
    return objectOf(this).features.get(AGENT_TOOLS);
  }
}
