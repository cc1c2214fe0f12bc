import { runBotCode } from "../core/time/bot-code.ts";
import { wait } from "../core/base/deps.ts";
import { errorCode, failureCode } from "../core/base/errors.ts";
import { UNKNOWN_CALL } from "../core/chat/inner-calls.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import { restAfter } from "../core/base/rest-after.ts";
import type { PromptMetadata, TurnInfo } from "../core/turn/turn-info.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { namedConversationName } from "../messengers/declare/conversation-name.ts";
import { OBJECT } from "../messengers/root/object-calls.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import { threadOf } from "../messengers/tools/call-facts.ts";
import { outcomeMessage } from "../messengers/turns/outcome-message.ts";
import type { RunQuestion } from "../scheduled-runs/run-questions.ts";
import { AgentRunStore } from "./agent-run-store.ts";
import type { AgentRun, NewAgentRun } from "./agent-run-store.ts";
import { AGENT_TOOLS } from "./agent-tool-calls.ts";
import type { AgentToolCalls, RunAnswer, RunAsks, RunEnded, RunState, RunWaits } from "./agent-tool-calls.ts";
import type { AgentToolMethods } from "./agent-tool-options.ts";
import { isMeant } from "./run-filter.ts";
import type { RunFilter } from "./run-filter.ts";
import { finishedOf, infoOf } from "./run-info.ts";

/** How the caller of a run waits for it. */
export interface RunWait {
  readonly signal: AbortSignal | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Whether it waits, too, while the agent waits for people whom it has asked by itself. @default true */
  readonly isPatient?: boolean | undefined;
}

/** A run whose agent cannot be heard is looked at after this, and then ever more rarely. */
const LOOK_AGAIN_MS = 250;
const LOOK_AGAIN_MOST_MS = 30_000;
/** Runs that only this process follows are looked at by the next one after this. */
const WAKE_MS = 30_000;
/** A run that waits for people is looked at after half of its age, if its agent could not tell that it goes on. */
const PEOPLE_REST_LEAST_MS = 5_000;
const PEOPLE_REST_MOST_MS = 5 * 60_000;

const STOPPED: RunEnded = { kind: "ended", status: "aborted", error: "The run was stopped." };
const ABANDONED: RunEnded = {
  kind: "ended",
  status: "interrupted",
  error: "Nobody waits for this run any more, so it was stopped.",
};

/**
 * The runs of other agents that calls of this object have begun.
 *
 * 1. A run is stored before its agent hears of it. Its id follows from its call, and its agent takes it once.
 * 2. A run lives as long as somebody wants it: its running turn, its call that waits for a person, or the conversation
 *    that gets a turn about it. Everything else is ended at its agent, also after a crash.
 * 3. A run has one end, stored before anybody hears of it. The turn about it is stored once, with the note of that.
 */
export class AgentRuns {
  readonly store: AgentRunStore;
  readonly #host: FeatureHost<AgentToolMethods>;
  /** Those who wait for news of a run, by its id. */
  readonly #heard = new Map<string, Set<() => void>>();
  readonly #lines = new Map<string, (line: string) => void>();
  /** Runs for which this process works, and those whose result it awaits. */
  readonly #working = new Map<string, Promise<void>>();
  readonly #awaited = new Set<string>();
  /** Until when runs rest that wait for people. An object that waits for people must not stay in memory. */
  readonly #restUntil = new Map<string, number>();

  constructor(host: FeatureHost<AgentToolMethods>) {
    this.#host = host;
    this.store = new AgentRunStore(host.database);
  }

  /** Stores a run, unless it is known, and gives it to its agent. Returns why it cannot begin. */
  async begin(run: NewAgentRun, limits: { readonly depth: number }): Promise<RunEnded | undefined> {
    const isNew = this.store.get(run.id) === undefined;
    const refusal = isNew ? this.#refusal(limits.depth) : undefined;
    if (refusal !== undefined) return { kind: "ended", status: "error", error: refusal };
    // Whoever begins it waits for it next, unless its end comes as a turn.
    if (run.afterEnd === undefined) this.#awaited.add(run.id);
    try {
      if (isNew) {
        this.store.insert(run, this.#now());
        this.#host.wakeSoon();
        await this.#hook("onAgentToolStart", run.id);
      }
      await this.#start(run.id);
      return undefined;
    } catch (error) {
      this.#awaited.delete(run.id);
      throw error;
    }
  }

  #refusal(depth: number): string | undefined {
    const { maxAgentToolDepth: deepest, maxConcurrentAgentTools: most } = this.#host.agent;
    if (depth > deepest)
      return `Agents may call each other at most ${deepest} deep, and this one is as deep as that. Nothing was begun. Do this without another agent.`;
    const open = this.store.open().filter(({ state }) => state !== "ended").length;
    if (open < most) return undefined;
    return `At most ${most} agents may work for this conversation at once. Nothing was begun. Wait until one of them has finished, then call again.`;
  }

  /** An object that dies now is asked again. A refusal would come again each time. */
  async #start(id: string): Promise<void> {
    const run = this.store.get(id);
    if (run?.state !== "starting" || run.request === undefined) return;
    const { request } = run;
    try {
      const { objects } = this.#host;
      // Its chats, if it has any, have their gates and their rate in the objects of this bot.
      if (run.agentClass !== objects.rootClass())
        await objects.to(OBJECT, addressOf(run)).belongTo(objects.rootClass());
      await this.#agentOf(run).begin(request);
      this.store.begun(id);
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined || code === UNKNOWN_CALL) return this.#notReached(id, error);
      this.store.ended(
        id,
        { kind: "ended", status: "error", error: `The agent cannot begin (${code}).` },
        this.#now(),
      );
      throw error;
    }
  }

  #notReached(run: string, error: unknown): void {
    this.#host.log.info("agent-tool.not-reached", { run, code: failureCode(error) });
  }

  /** Resolves when a run asks people something, or is over. */
  async untilAsksOrEnds(
    id: string,
    { isPatient = true, onProgress, signal }: RunWait,
  ): Promise<RunAsks | RunEnded | RunWaits> {
    if (onProgress !== undefined) this.#lines.set(id, onProgress);
    this.#awaited.add(id);
    try {
      for (let looks = 1; ; looks += 1) {
        if (signal?.aborted === true) this.leave(id);
        const run = this.store.get(id);
        if (run === undefined) return ABANDONED;
        if (run.state === "ended" || run.state === "ending") return run.end ?? STOPPED;
        const news = this.#news(id, signal);
        const state = await this.#look(run);
        if (state.kind === "ended") {
          this.store.ended(id, state, this.#now());
          this.#host.wakeSoon();
        } else if (state.kind === "asks" || (state.kind === "waits" && !isPatient)) return state;
        else await Promise.race([news, this.#rest(looks, signal)]);
      }
    } finally {
      this.#awaited.delete(id);
      this.#lines.delete(id);
    }
  }

  /** An agent that cannot be reached now has not ended. */
  async #look(run: AgentRun): Promise<RunState> {
    try {
      await this.#start(run.id);
      // An agent that has not stored the run would call it lost.
      if (this.store.get(run.id)?.state === "starting") return { kind: "open" };
      return await this.#agentOf(run).look(run.id);
    } catch (error) {
      this.#notReached(run.id, error);
      return { kind: "open" };
    }
  }

  #rest(looks: number, signal: AbortSignal | undefined): Promise<void> {
    return wait(this.#host.deps.clock, restAfter(looks, LOOK_AGAIN_MS, LOOK_AGAIN_MOST_MS), signal).catch(
      () => {
        // The caller wants no result any more. The next look says so.
      },
    );
  }

  #news(id: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#heard.get(id) ?? new Set();
    this.#heard.set(id, waiting.add(resolve));
    signal?.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }

  /** Something about a run has changed. */
  nudge(id: string): void {
    for (const resolve of this.#heard.get(id) ?? []) resolve();
    this.#heard.delete(id);
    this.#restUntil.delete(id);
    this.#host.later(() => void this.work());
  }

  async showProgress(id: string, line: string): Promise<void> {
    const run = this.store.get(id);
    if (run === undefined || run.state === "ended") return;
    this.#lines.get(id)?.(line);
    await this.#hook("onProgress", id, { message: line });
  }

  /** Gives an answer to the agent. Repeated until it is there: a second time changes nothing. */
  async answer(
    id: string,
    asks: RunAsks,
    answer: RunAnswer,
    facts: Pick<CallFacts, "person" | "address">,
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const run = this.store.get(id);
      if (run?.state !== "running") return;
      const by = { name: run.agent, person: facts.person, messengerId: facts.address?.messengerId };
      try {
        return await this.#agentOf(run).answer(asks.of, answer, by);
      } catch (error) {
        this.#notReached(id, error);
        await this.#rest(tries, undefined);
      }
    }
  }

  /** Ends a run that nobody wants any more. Its agent hears of it soon, also after a crash. */
  leave(id: string, end = STOPPED): boolean {
    const isLeft = this.store.leave(id, end);
    if (isLeft) {
      this.nudge(id);
      this.#host.wakeSoon();
    }
    return isLeft;
  }

  /** Does what is due for the runs of this object. */
  async work(): Promise<void> {
    for (const run of this.store.open()) {
      if (this.#working.has(run.id) || (this.#restUntil.get(run.id) ?? 0) > this.#now()) continue;
      const work = this.#workOn(run);
      if (work === undefined) continue;
      const done = work
        .catch((error: unknown) => this.#notReached(run.id, error))
        .finally(() => this.#working.delete(run.id));
      this.#working.set(run.id, done);
    }
  }

  #workOn(run: AgentRun): Promise<void> | undefined {
    const { afterEnd, id, state } = run;
    if (state === "ending") return this.#end(run);
    if (state === "ended") return this.#tell(id);
    if (afterEnd !== undefined) return this.#follow(run);
    if (!this.#isAwaited(run)) this.leave(id, ABANDONED);
    // The answer of its person comes to this object.
    else if (!this.#isAwaitedNow(run)) this.#rests(id, PEOPLE_REST_MOST_MS);
    return undefined;
  }

  #rests(id: string, restMs: number): void {
    this.#restUntil.set(id, this.#now() + restMs);
  }

  async #end(run: AgentRun): Promise<void> {
    await this.#agentOf(run).end(run.id);
    this.store.ended(run.id, run.end ?? STOPPED, this.#now());
    await this.#tell(run.id);
  }

  async #follow({ createdAt, id }: AgentRun): Promise<void> {
    const state = await this.untilAsksOrEnds(id, { signal: undefined, isPatient: false });
    const half = Math.max((this.#now() - createdAt) / 2, PEOPLE_REST_LEAST_MS);
    if (state.kind !== "ended") this.#rests(id, Math.min(half, PEOPLE_REST_MOST_MS));
    else if (this.store.get(id)?.state === "ended") await this.#tell(id);
  }

  /** Whether a turn, a call that waits for a person, or bot code of this process waits for the result of a run. */
  #isAwaited(run: AgentRun): boolean {
    if (this.#isAwaitedNow(run)) return true;
    const { requestId, toolCallId } = run;
    const { asking } = this.#host.features;
    const earlier = asking?.earlier({ requestId, toolCallId }, false);
    const { waiting } = earlier?.kind === "waits" ? earlier.output : {};
    if (waiting === undefined || !("questionId" in waiting)) return false;
    const parked = asking?.stateOf(waiting.questionId);
    return parked !== undefined && parked.kind !== "ended";
  }

  #isAwaitedNow({ id, requestId }: AgentRun): boolean {
    return this.#awaited.has(id) || this.#host.thread.own.isRunning(requestId);
  }

  /** Tells the bot's own code and the conversation of the end of a run. */
  async #tell(id: string): Promise<void> {
    const run = this.store.get(id);
    if (run?.state !== "ended" || run.isTold) return;
    await this.#hook("onAgentToolFinish", id, finishedOf(run));
    const { afterEnd } = run;
    if (afterEnd?.onFinish !== undefined) await this.#hook(afterEnd.onFinish, id, finishedOf(run));
    this.#host.database.transaction(() => {
      if (afterEnd?.notify === true && run.end?.status !== "aborted") this.#submitOutcome(run);
      this.store.told(id);
    });
    if (afterEnd?.notify === true) await this.#host.stored();
  }

  /** Calls a method of the bot's class, if it has it. The log has the reason of a failure. */
  async #hook(name: string, id: string, news?: object): Promise<void> {
    const { agent, deps, log } = this.#host;
    const run = this.store.get(id);
    const method: unknown = Reflect.get(agent, name);
    if (run === undefined || typeof method !== "function") return;
    const info = infoOf(run);
    try {
      await runBotCode(
        { clock: deps.clock, log },
        name,
        () => Reflect.apply(method, agent, [info, news]) as unknown,
      );
    } catch {
      // Nothing depends on what the bot's own code does here.
    }
  }

  #submitOutcome({ agent, end, facts, id, requestId }: AgentRun): void {
    const { messengers, runs, thread } = this.#host;
    const run = runs.runOf(requestId);
    // Another conversation, or the chats of a schedule, read the whole answer.
    const address = run === undefined ? facts.address : run.shownIn;
    const isServed = address !== undefined && messengers.isDeclared(address.messengerId);
    const result = end?.status === "completed" ? (end.output ?? end.text ?? "") : { error: end?.error ?? "" };
    thread.own.submit({
      kind: "outcome",
      idempotencyKey: keyOf(id),
      messages: [outcomeMessage(id, { action: agent, input: `run ${id}`, result })],
      answerTo: isServed ? [address] : [],
      metadata: { agentRun: id },
    });
  }

  isBusy(): boolean {
    return this.#working.size > 0;
  }

  nextWakeAt(): number | undefined {
    const times = this.store.open().map(({ id }) => this.#restUntil.get(id) ?? this.#now() + WAKE_MS);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends the runs of a person's chat. Returns whether there was one. */
  stopped({ author, messengerId, thread }: MessengerEvent): boolean {
    return this.#leaveThose(({ facts: { address, people } }) => {
      const isHere = address?.messengerId === messengerId && address.threadId === thread.id;
      return isHere && (thread.isDirectMessage || people.some(({ userId }) => userId === author?.userId));
    });
  }

  /** Ends the runs of a turn that another one replaces. */
  turnReplaced(turnId: string): void {
    this.#leaveThose(({ requestId }) => requestId === turnId);
  }

  /** Ends the runs of everything that follows from a turn. */
  dropRun(turnId: string): void {
    this.#leaveThose(({ requestId }) => this.#host.runs.rootOf(requestId) === turnId);
  }

  #leaveThose(isOne: (run: AgentRun) => boolean): boolean {
    return this.store.open().filter((run) => isOne(run) && this.leave(run.id)).length > 0;
  }

  /** The turns about ends of runs, as those see them who follow the turn that has begun them. */
  ofTurn(turnId: string): RunQuestion[] {
    return this.store.ofRequest(turnId).flatMap(({ afterEnd, id, isTold }) => {
      if (afterEnd?.notify !== true) return [];
      return { state: isTold ? "over" : "open", ending: undefined, outcomeKey: keyOf(id) };
    });
  }

  /** Lets a run go on after its call. Its end comes as a turn. */
  goOn(id: string): void {
    this.store.goOn(id);
    this.#host.wakeSoon();
  }

  /** Whether an agent that a run of this object has called waits for people. */
  waitsIn(turnId: string): boolean {
    return this.store.open().some(({ afterEnd, requestId, state }) => {
      const isWaiting = afterEnd?.isWaiting === true && state === "running";
      return isWaiting && this.#host.runs.rootOf(requestId) === turnId;
    });
  }

  /** Agents that work in the background ask by themselves, and so do calls that wait for an agent. */
  waitingIn(): undefined {
    return undefined;
  }

  askedBy({ agentRun }: PromptMetadata): string | undefined {
    return typeof agentRun === "string" ? this.store.get(agentRun)?.requestId : undefined;
  }

  factsOfOutcome({ answerTo, kind, metadata }: TurnInfo): CallFacts | undefined {
    const id = metadata?.["agentRun"];
    const run = kind === "outcome" && typeof id === "string" ? this.store.get(id) : undefined;
    if (run === undefined) return undefined;
    const address = answerTo[0] ?? run.facts.address;
    return { ...run.facts, address, chat: threadOf(address) };
  }

  /** Forgets runs and what their agents keep. Those that are not over are ended. */
  async clear(which: RunFilter): Promise<void> {
    for (const run of this.store.all().filter((one) => isMeant(one, which))) {
      this.leave(run.id);
      await this.#working.get(run.id);
      const agent = this.#agentOf(run);
      if (run.state !== "ended") await agent.end(run.id);
      await agent.clear(run.id);
      this.store.remove(run.id);
    }
  }

  #agentOf(run: Pick<AgentRun, "agentClass" | "id">): AgentToolCalls {
    return this.#host.objects.to(AGENT_TOOLS, addressOf(run));
  }

  #now(): number {
    return this.#host.deps.clock.now();
  }
}

/** The address of the object of a run, as `subAgent` makes it. */
function addressOf({ agentClass, id }: Pick<AgentRun, "agentClass" | "id">): string {
  return `${agentClass}@${namedConversationName(id, "runAgentTool()")}`;
}

function keyOf(id: string): string {
  return `agent-run:${id}`;
}
