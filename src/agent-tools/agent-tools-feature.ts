import type { DetachedRunAgentToolResult, RunAgentToolOptions, RunAgentToolResult } from "agents/agent-tools";
import { ConfigurationError } from "../core/base/errors.ts";
import { parseObjectAddress } from "../messengers/declare/conversation-name.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import { getTurn } from "../core/turn/turn-context.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import type { StopEffect } from "../messengers/turns/turn-consent.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";
import type { AfterEnd } from "./agent-run-store.ts";
import { AGENT_TOOLS } from "./agent-tool-calls.ts";
import type { AgentToolCalls, RunEnded, RunRequest } from "./agent-tool-calls.ts";
import type { AgentToolMethods } from "./agent-tool-options.ts";
import { AgentRuns } from "./agent-runs.ts";
import { ChildRuns } from "./child-runs.ts";
import { callId } from "./call-id.ts";
import { answeredBy } from "../core/chat/inner-calls.ts";

/** A run that a call of this object begins. */
export interface RunOfAgent {
  readonly id: string;
  readonly agentClass: { readonly name: string };
  /** The agent as people know it. */
  readonly agent: string;
  readonly input: unknown;
  readonly requestId: string;
  readonly toolCallId: string;
  readonly facts: CallFacts;
  /** Whether the call can ask people for the agent. */
  readonly canAsk: boolean;
  /** Undefined: somebody waits for the result. */
  readonly afterEnd?: AfterEnd | undefined;
}

const features = new WeakMap<object, AgentToolsFeature>();

/** Returns the feature of an agent's object. */
export function agentToolsOf(agent: unknown): AgentToolsFeature | undefined {
  return typeof agent === "object" && agent !== null ? features.get(agent) : undefined;
}

/**
 * Other agents as tools. Each run has an object of its own, with its own transcript. `AgentRuns` has the runs that this
 * object has begun, `ChildRuns` those that it does for others.
 */
export class AgentToolsFeature implements Feature {
  readonly name = AGENT_TOOLS.name;
  readonly calls: AgentToolCalls;
  readonly runs: AgentRuns;
  readonly #children: ChildRuns;
  readonly #host: FeatureHost<AgentToolMethods>;

  constructor(host: FeatureHost<unknown>) {
    // Every bot has these methods.
    this.#host = host as FeatureHost<AgentToolMethods>;
    this.runs = new AgentRuns(this.#host);
    this.#children = new ChildRuns(this.#host, (id) => this.runs.waitsIn(id));
    this.calls = answeredBy<[ChildRuns, AgentToolsFeature]>(this.#children, this);
    features.set(this.#host.agent, this);
  }

  /** Begins a run for a call of this object, unless it is known. Returns why it cannot begin. */
  async beginRun(run: RunOfAgent): Promise<RunEnded | undefined> {
    const { afterEnd, agent, canAsk, facts, id, input, requestId, toolCallId } = run;
    const { objects, runs, thread } = this.#host;
    const above = runs.runOf(requestId)?.delegation;
    const depth = (above?.depth ?? 0) + 1;
    const payer = above === undefined ? payerOf(facts) : above.payer;
    const request: RunRequest = {
      id,
      prompt: promptOf(input),
      run: {
        schedule: { keeper: objects.address(), taskId: id, revision: "1", agent },
        occurrenceKey: id,
        requester: facts.person,
        askIn: facts.address,
        delegation: {
          people: facts.people,
          payer,
          keepUsageMs: above?.keepUsageMs ?? thread.keepUsageMsOf(payer?.messengerId ?? ""),
          depth,
          canAsk: canAsk && above?.canAsk !== false,
        },
      },
    };
    const agentClass = run.agentClass.name;
    return this.runs.begin(
      { id, agentClass, agent, requestId, toolCallId, request, facts, afterEnd },
      { depth },
    );
  }

  /** See `Think.runAgentTool`. */
  async run(
    agentClass: { readonly name: string },
    options: RunAgentToolOptions,
  ): Promise<RunAgentToolResult | DetachedRunAgentToolResult> {
    const { detached = false, display, input, parentToolCallId: toolCallId = "", signal } = options;
    await this.#host.ready();
    const requestId = getTurn()?.id ?? "";
    const id = await this.#idOf(options, requestId);
    const known = { runId: id, agentType: agentClass.name };
    const facts = this.#host.actions.factsOf(requestId);
    const agent = display?.name ?? agentClass.name;
    const isDetached = detached !== false;
    const afterEnd = isDetached ? afterEndOf(detached) : undefined;
    const run = { id, agentClass, agent, input, requestId, toolCallId, facts, canAsk: false, afterEnd };
    const refusal = await this.beginRun(run);
    if (isDetached) {
      if (refusal !== undefined)
        return { ...known, status: "error", ...(refusal.error !== undefined && { error: refusal.error }) };
      await this.#host.stored();
      return { ...known, status: "running" };
    }
    const end = refusal ?? (await this.#untilEnded(id, signal));
    return {
      ...known,
      status: end.status,
      ...(end.text !== undefined && { summary: end.text }),
      ...(end.output !== undefined && { output: end.output }),
      ...(end.error !== undefined && { error: end.error }),
    };
  }

  async #untilEnded(id: string, signal: AbortSignal | undefined): Promise<RunEnded> {
    const state = await this.runs.untilAsksOrEnds(id, { signal });
    if (state.kind === "ended") return state;
    // Nobody can be asked: such a run never asks its keeper.
    return { kind: "ended", status: "error", error: "The agent asks a person, and nobody can be asked." };
  }

  /** A model server may give the calls of every turn the same ids. */
  async #idOf({ input, parentToolCallId, runId }: RunAgentToolOptions, requestId: string): Promise<string> {
    const isOfCall = parentToolCallId !== undefined && (runId ?? "").endsWith(parentToolCallId);
    if (isOfCall) return callId(requestId, parentToolCallId, input);
    return runId ?? `agent-tool:${this.#host.deps.newId()}`;
  }

  /** For whom and where the calls of a turn run. */
  factsOf(requestId: string): CallFacts {
    return this.#host.actions.factsOf(requestId);
  }

  showProgress(id: string, line: string): Promise<void> {
    return this.runs.showProgress(id, line);
  }

  async nudgeOccurrence(id: string): Promise<void> {
    this.runs.nudge(id);
  }

  /**
   * Returns the conversation for whose call this object works.
   *
   * @throws {ConfigurationError} `parent-missing`
   */
  parentOf(className: string): string {
    const { delegation, schedule } = this.#host.runs.runs.first() ?? {};
    if (delegation === undefined || schedule === undefined)
      throw new ConfigurationError(
        "parent-missing",
        "This object works for no agent. parentAgent() is for the runs of agentTool() and runAgentTool().",
      );
    const { className: named = this.#host.objects.rootClass(), conversation } = parseObjectAddress(
      schedule.keeper,
    );
    if (named === className) return conversation;
    throw new ConfigurationError(
      "parent-missing",
      `This object works for an agent of the class ${named}. Call parentAgent(${named}).`,
    );
  }

  work(): Promise<void> {
    return this.runs.work();
  }

  isBusy(): boolean {
    return this.runs.isBusy();
  }

  nextWakeAt(): number | undefined {
    return this.runs.nextWakeAt();
  }

  get runQuestions(): RunQuestions {
    return this.runs;
  }

  factsOfOutcome(turn: TurnInfo): CallFacts | undefined {
    return this.runs.factsOfOutcome(turn);
  }

  turnReplaced(turnId: string): void {
    this.runs.turnReplaced(turnId);
  }

  stopped(by: MessengerEvent): StopEffect {
    return this.runs.stopped(by) ? "unseen" : "nothing";
  }

  progressed(turnId: string, line: string): void {
    this.#children.progressed(turnId, line);
  }
}

/** The person for whom the call runs pays, as for the turn itself. */
function payerOf({
  address,
  person,
  schedule,
}: CallFacts): NonNullable<RunRequest["run"]["delegation"]>["payer"] {
  const userId = person?.userId ?? (schedule === undefined ? undefined : `task:${schedule.taskId}`);
  if (userId === undefined) return undefined;
  return { messengerId: address?.messengerId ?? "", chatId: address?.chatId ?? "", userId };
}

function promptOf(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input, undefined, 2);
}

function afterEndOf(detached: RunAgentToolOptions["detached"]): AfterEnd {
  if (typeof detached !== "object") return { notify: false };
  const { notify = false, onFinish } = detached;
  // An explicit method wins.
  return onFinish === undefined ? { notify: notify !== false } : { notify: false, onFinish };
}
