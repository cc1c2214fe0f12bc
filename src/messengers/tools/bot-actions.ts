import type { ToolSet } from "ai";
import type { OfferContext } from "../../actions/declare/action-context.ts";
import type { Action, ThinkActions } from "../../actions/declare/action.ts";
import { parseOutput } from "../../actions/ledger/stored-output.ts";
import { actionOfTool, gateTools } from "../../actions/tools/approval-tools.ts";
import { compileActions, joinTools } from "../../actions/tools/compile-actions.ts";
import { actionGone, neverRan, outcomeUnknown } from "../../actions/declare/action-errors.ts";
import { LocalStates } from "../../actions/memory/action-states.ts";
import { editedCall } from "../../actions/runs/edited-call.ts";
import type { EditedCall } from "../../actions/runs/edited-call.ts";
import { enabledActions } from "../../actions/runs/enabled-actions.ts";
import { logActionFailure, logOfAction } from "../../actions/declare/log-action-failure.ts";
import { LocalLedger } from "../../actions/ledger/ledger.ts";
import type { ActionLedger } from "../../actions/ledger/ledger.ts";
import { runAction } from "../../actions/runs/run-action.ts";
import { RunLog } from "../../replay/run-log.ts";
import type { ActionHost, ActionRequest, ApprovalQuestion } from "../../actions/runs/action-host.ts";
import type { ActionOutput } from "../../actions/declare/action-errors.ts";
import { runBotCode } from "../../core/time/bot-code.ts";
import { endOfCall } from "./end-of-call.ts";
import { logRefusedCall } from "../../turn/tools/log-refused-call.ts";
import { askedByCaller } from "../../core/action/outside-call.ts";
import type { Json } from "../../core/message/content.ts";
import type { Clock } from "../../core/base/deps.ts";
import { isThenable } from "../../core/base/is-thenable.ts";
import type { Log } from "../../core/base/log.ts";
import { getTurn } from "../../core/turn/turn-context.ts";
import { usableTools } from "../../turn/tools/bot-tools.ts";
import { ActionRights } from "./action-rights.ts";
import type { CallFacts } from "./action-rights.ts";
import type { ActionConsent } from "./action-consent.ts";
import type { ActionQuestions } from "./action-questions.ts";
import { factsOfTurn, payerOf } from "./call-facts.ts";
import { clientOutside, keeperOf, originOf } from "./call-origin.ts";
import { RunProgress } from "./run-progress.ts";
import { TurnProgress } from "./turn-progress.ts";
import type { Payer } from "../thread/usage-news.ts";
import type { BotActionsHost, ConsentedCall, ChangedCall, OutsideCall } from "./bot-actions-host.ts";
import { ConfigurationError } from "../../core/base/errors.ts";

/** Where a call outside of a turn runs. @default as its turn says */
interface CallPlace {
  readonly facts?: CallFacts;
  readonly owner?: string;
  readonly isAnswered?: boolean | undefined;
}

/** The actions of one object: the bot's tools and actions as a turn gets them, and the ledger of their runs. */
export class BotActions {
  readonly rights: ActionRights;
  readonly #host: BotActionsHost;
  /** Tells this life of the object from earlier ones. */
  readonly #process: string;
  readonly #progress: TurnProgress;
  /** Progress of runs outside of turns. */
  readonly runProgress: RunProgress;
  #ledger: LocalLedger | undefined;
  #runLog: RunLog | undefined;
  #states: LocalStates | undefined;

  constructor(host: BotActionsHost) {
    this.#host = host;
    const { agent, deps, log } = host;
    this.#process = deps.newId();
    this.#progress = new TurnProgress(() => host.thread.delivery);
    this.runProgress = new RunProgress(host);
    this.rights = new ActionRights({ agent, clock: deps.clock, log });
  }

  get ledger(): ActionLedger {
    this.#ledger ??= new LocalLedger(this.#host.database, this.#host.deps);
    return this.#ledger;
  }

  /** The recorded questions and steps of calls. */
  get runLog(): RunLog {
    this.#runLog ??= new RunLog(this.#host.database, this.#host.deps.clock);
    return this.#runLog;
  }

  get states(): LocalStates {
    this.#states ??= new LocalStates(this.#host.database, this.#host.deps);
    return this.#states;
  }

  /** The bot's tools and actions, for a turn. */
  async tools(botCode: { readonly clock: Clock; readonly log: Log }): Promise<ToolSet> {
    const { agent, features } = this.#host;
    await features.loadActions();
    const own = async (): Promise<ToolSet> => usableTools(this.#gated(await agent.getTools()));
    const tools = await runBotCode(botCode, "getTools", own);
    return runBotCode(botCode, "getActions", async () =>
      this.#joined(tools, await this.#offered(botCode.log)),
    );
  }

  /** The actions that the model of the current turn is offered. */
  #offered(log: Log): Promise<ThinkActions> {
    const facts = this.factsOf(turnId());
    return this.#enabled(this.declared(), log, { ...facts, client: originOf(facts).client });
  }

  /** Returns those of the actions that another system is offered, before it calls one. */
  offeredOutside(actions: ThinkActions, facts: CallFacts): Promise<ThinkActions> {
    return this.#enabled(actions, this.#host.log, { ...facts, client: clientOutside(facts) });
  }

  #enabled(
    actions: ThinkActions,
    log: Log,
    { chat, client, people, person }: CallFacts & Pick<OfferContext, "client">,
  ): Promise<ThinkActions> {
    const { agent, env } = this.#host;
    const ctx = (): OfferContext => ({ agent, env, requestId: turnId(), person, people, chat, client });
    return enabledActions(actions, { ctx, states: this.states }, (name, error) =>
      logActionFailure(log, name, error),
    );
  }

  /**
   * The bot's tools and actions, as far as they are known without a turn.
   *
   * @throws {ConfigurationError} `action-name-twice`, `tool-name-twice`
   */
  declaredTools(): ToolSet | Promise<ToolSet> {
    this.#joined({}, this.declared());
    const tools = this.#host.agent.getTools();
    return isThenable(tools)
      ? Promise.resolve(tools).then((listed) => this.#gated(listed))
      : this.#joined(this.#gated(tools), this.declared());
  }

  /** Puts the bot's tools with `needsApproval` behind a question. */
  #gated(tools: ToolSet): ToolSet {
    return gateTools(tools, this.#callHost(), turnId);
  }

  #joined(tools: ToolSet, actions: ThinkActions): ToolSet {
    return joinTools(tools, compileActions(actions, this.#callHost(), turnId));
  }

  /** For whom and where the calls of a turn run. */
  factsOf(turn: string): CallFacts {
    const { features, runs, thread } = this.#host;
    return factsOfTurn(thread.own.info(turn), features, runs.runs.get(turn));
  }

  /** The object for the calls of turns, or for a call outside of one. `owner` is the reply that shows what it attaches. */
  #callHost({ facts, isAnswered = false, owner }: CallPlace = {}): ActionHost {
    const factsOf = (turn: string): CallFacts => facts ?? this.factsOf(turn);
    const ownerOf = (turn: string): string => owner ?? turn;
    const host = this.#host;
    const { agent, deps, env, log } = host;
    return {
      clock: deps.clock,
      claimant: host.name(),
      process: this.#process,
      leaseMs: agent.actionLedgerPendingRetryLeaseMs,
      ledger: (scope) => (scope === "bot" ? host.botLedger() : this.ledger),
      context: ({ consent, messages, name, requestId, toolCallId }) => {
        const facts = factsOf(requestId);
        const { chat, people, person } = facts;
        const called = { requestId, toolCallId, messages, person, people, chat, approver: consent?.approver };
        return {
          agent,
          env,
          ...called,
          ...originOf(facts),
          log: (entry) => logOfAction(log, name, entry),
          shortTermMemory: this.states.shortTerm,
          activateContext: (context) => this.states.setContext(context, true),
          deactivateContext: (context) => this.states.setContext(context, false),
        };
      },
      states: (scope) => (scope === "bot" ? host.botStates() : this.states),
      ownStates: this.states,
      noted: agent.actionTemplates ? this.states : undefined,
      progress: ({ requestId, toolCallId }, line) => {
        const turn = host.thread.own.info(requestId);
        if (turn !== undefined) this.#progress.show(turn, toolCallId, line);
        if (line !== undefined) host.features.progressed(requestId, line);
      },
      sample: ({ requestId }, asked, signal) => host.sample({ turnId: requestId }, asked, signal),
      attachments: ({ requestId }) => host.thread.attachments.recorded.ofCall(ownerOf(requestId)),
      authorize: (call) => this.rights.decide(call, factsOf(call.request.requestId)),
      ask: async (question) => this.#consent().ask(question, factsOf(question.request.requestId)),
      useGrant: async (question) =>
        host.features.consent?.useGrant(question, factsOf(question.request.requestId)),
      endUse: (request, output, hadNoEffect) =>
        host.features.consent?.endUse(request, output as Json, hadNoEffect),
      earlier: (request) => host.features.asking?.earlier(request, isAnswered),
      asking: (run, isNew) => ({
        record: this.runLog.of(run.ledgerKey, isNew),
        prepare: async (question) => {
          const { requestId } = run.request;
          const facts = factsOf(requestId);
          const outside = facts.outside ?? keeperOf(host.features.runOf(requestId), facts);
          return this.#asking().prepare(run, { facts, owner: ownerOf(requestId), outside }, question);
        },
        accept: (position) => host.features.asking?.accept(run.ledgerKey, position),
      }),
      onEnded: endOfCall(host.engine),
      onInvalidInput: (action) => logRefusedCall(log, action, "input-invalid"),
      onInvalidOutput: (action, problem) =>
        log.warn("action.output-invalid", { action, problem: log.reveal(problem) }),
      onResult: (action, shown) => log.info("action.done", { action, result: log.reveal(shown) }),
      onFailure: (action, error) => logActionFailure(log, action, error),
    };
  }

  #asking(): ActionQuestions {
    const { asking } = this.#host.features;
    if (asking === undefined) throw nobodyAnswers();
    return asking;
  }

  #consent(): ActionConsent {
    const { consent } = this.#host.features;
    if (consent === undefined) throw nobodyAsked("an action");
    return consent;
  }

  /**
   * Runs a call to which somebody has agreed, or whose question has an answer, outside of any turn. Returns its output,
   * `{ error }`, or `{ waiting }` if it asks somebody.
   */
  async runConsented({
    facts,
    isAnswered,
    name,
    owner,
    shownIn = facts.address,
    ...call
  }: ConsentedCall): Promise<Json> {
    await this.#host.features.loadActions();
    const action = this.named(name) ?? (await this.#toolNamed(name));
    if (action === undefined) return actionGone() as unknown as Json;
    const request = { ...call, name, action, messages: await this.#host.messages(), signal: undefined };
    const host = this.#callHost({ facts, owner, isAnswered });
    const run = { owner, requestId: call.requestId, address: shownIn };
    const progress: ActionHost["progress"] = (_request, line) => {
      this.runProgress.show(run, line);
      if (line !== undefined) this.#host.features.progressed(call.requestId, line);
    };
    const paid = this.#host.features.runOf(call.requestId)?.delegation;
    const sample = this.#sampleFor(paid?.payer ?? payerOf(facts), paid?.keepUsageMs);
    try {
      return (await runAction({ ...host, progress, sample }, request)) as Json;
    } finally {
      // A process that died in an earlier run may have left a line.
      this.runProgress.end(run);
    }
  }

  #sampleFor(payer: Payer, keepMs?: number): ActionHost["sample"] {
    return (_request, asked, signal) => this.#host.sample({ payer, keepMs }, asked, signal);
  }

  /** Checks a call whose input a person has changed. Returns the question that it is now. */
  async editedQuestion({ facts, name, ...call }: ChangedCall): Promise<EditedCall> {
    await this.#host.features.loadActions();
    const action = this.named(name);
    if (action === undefined) return { kind: "refused", failure: actionGone() };
    const request = { ...call, name, action, messages: await this.#host.messages(), signal: undefined };
    return editedCall(this.#callHost({ facts, isAnswered: true }), request);
  }

  /** Runs a call of another system. Returns what a model would read. */
  async runOutside({
    caller,
    canAsk,
    facts: of,
    isAnswered,
    onProgress,
    owner,
    payer,
    ...call
  }: OutsideCall): Promise<ActionOutput> {
    const action = this.named(call.name);
    if (action === undefined) return actionGone();
    const facts: CallFacts = { ...of, outside: { caller, canAsk, owner, payer } };
    const host = this.#callHost({ facts, isAnswered });
    const ask: ActionHost["ask"] = async (question) => {
      const consent = this.#consent();
      if (canAsk && (await consent.mayAnswer(question, facts)))
        return consent.ask(
          changed(question, { requestId: askedByCaller(call.requestId), toolCallId: call.toolCallId }),
          facts,
        );
      if (facts.person === undefined) return consent.ask(askedOf(question, owner), facts);
      if (facts.address === undefined && action.askIn === undefined) return NOT_REACHABLE;
      return consent.ask(question, facts);
    };
    const progress: ActionHost["progress"] = (_request, line) => {
      if (line !== undefined) onProgress(line);
    };
    const sample = this.#sampleFor(payer);
    return runAction({ ...host, ask, progress, sample }, { ...call, action, messages: [] });
  }

  /** Finds out in the ledger what became of a call whose process has ended. Undefined if it waits for an answer. */
  async outputOf(
    ledgerKey: string,
    name: string,
    inputHash: string,
  ): Promise<{ readonly output: Json; readonly hadNoEffect: boolean } | undefined> {
    const scope = this.named(name)?.idempotencyScope;
    const ledger = scope === "bot" ? this.#host.botLedger() : this.ledger;
    const found = await ledger.look(ledgerKey, name, inputHash);
    if (found?.kind === "asking") return undefined;
    if (found?.kind === "settled") return { output: parseOutput(found.output), hadNoEffect: false };
    const output = (found?.kind === "open" ? outcomeUnknown() : neverRan()) as unknown as Json;
    return { output, hadNoEffect: found?.kind !== "open" };
  }

  /** Returns the action that stands for a tool with `needsApproval`. */
  async #toolNamed(name: string): Promise<Action | undefined> {
    const { agent, deps, log } = this.#host;
    const listed = runBotCode({ clock: deps.clock, log }, "getTools", () => agent.getTools());
    // The log has the reason of a failure.
    return actionOfTool((await listed.catch((): ToolSet => ({})))[name]);
  }

  /**
   * The bot's actions, and those that it has switched on.
   *
   * @throws {ConfigurationError} `approvals-missing` if one of them asks people and the bot has no approvals
   */
  declared(): ThinkActions {
    const { agent, features } = this.#host;
    const actions = features.wrapActions({ ...features.actions(), ...agent.getActions() });
    if (features.consent !== undefined) return actions;
    const [asking] = Object.entries(actions).find(([, { kind }]) => kind !== "server") ?? [];
    if (asking !== undefined) throw nobodyAsked(`The action "${asking}"`);
    return actions;
  }

  /** Returns the bot's action of this name. Undefined if the bot no longer has it. */
  named(name: string): Action | undefined {
    const actions = this.declared();
    return Object.entries(actions).find(([key, action]) => (action.name ?? key) === name)?.[1];
  }
}

const NOT_REACHABLE = {
  problem:
    "A person has to agree to this action, and the person of this token has no private chat with the bot. Nobody was asked.",
};

function changed(question: ApprovalQuestion, request: Partial<ActionRequest>): ApprovalQuestion {
  return { ...question, request: { ...question.request, ...request } };
}

/** A call that no person makes is asked about in the owner's private chat, unless the action says where and whom. */
function askedOf(question: ApprovalQuestion, owner: OutsideCall["owner"]): ApprovalQuestion {
  const { action } = question.request;
  if (owner === undefined || action.askIn !== undefined || action.approvers !== undefined) return question;
  return changed(question, { action: { ...action, askIn: owner, approvers: [owner.userId] } });
}

function turnId(): string {
  return getTurn()?.id ?? "";
}

/** An action needs approvals, and the bot has none. */
function nobodyAsked(what: string): ConfigurationError {
  return new ConfigurationError(
    "approvals-missing",
    `${what} asks people for approval, and this bot was built without approvals. It never runs unasked.`,
  );
}

/** An action asks people, and the bot has no questions. */
function nobodyAnswers(): ConfigurationError {
  return new ConfigurationError(
    "questions-missing",
    "An action asks a person something, and this bot was built without questions.",
  );
}
