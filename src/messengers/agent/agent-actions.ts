import type { ModelMessage, ToolSet } from "ai";
import type { Action, ThinkActions } from "../../actions/action.ts";
import { parseOutput } from "../../actions/stored-output.ts";
import { actionOfTool, gateTools } from "../../actions/approval-tools.ts";
import { compileActions, joinTools } from "../../actions/compile-actions.ts";
import { actionGone, neverRan, outcomeUnknown } from "../../actions/action-errors.ts";
import { LocalLedger } from "../../actions/ledger.ts";
import type { ActionLedger } from "../../actions/ledger.ts";
import { runAction } from "../../actions/run-action.ts";
import type { ActionHost } from "../../actions/action-host.ts";
import type { IndexedApproval } from "../../approvals/approval-index.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { failureName } from "../../approvals/outcome-words.ts";
import { isOpen } from "../../approvals/approval.ts";
import type { Approval, CallOutcome } from "../../approvals/approval.ts";
import { logBotFailure, runBotCode } from "../../core/bot-code.ts";
import type { ScheduledRun } from "../../core/scheduled-run.ts";
import type { ChatTarget, Resolution } from "../../core/chat-target.ts";
import type { Json } from "../../core/content.ts";
import type { Database } from "../../core/database.ts";
import type { Clock, Deps } from "../../core/deps.ts";
import { isThenable } from "../../core/is-thenable.ts";
import type { Log } from "../../core/log.ts";
import { getTurn } from "../../core/turn-context.ts";
import type { ScheduledRunStore } from "../../schedules/index.ts";
import { usableTools } from "../../turn/bot-tools.ts";
import { HEARTBEAT_MS } from "../declare/wake.ts";
import type { Wake } from "../declare/wake.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { ActionRights } from "./action-rights.ts";
import type { CallFacts } from "./action-rights.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { ApprovalDesk } from "./approval-desk.ts";
import { approvalTime } from "./approval-time.ts";
import { ApprovalNews } from "./approval-news.ts";
import type {
  ApprovalIndexCalls,
  ApprovalViewer,
  DecidesApprovals,
  OutsideDecision,
  OutsideResult,
  SeenApproval,
} from "../root/approval-calls.ts";
import { factsOfApproval, factsOfTurn } from "./call-facts.ts";
import { approvedOwner } from "../turns/turn-attachments.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

export interface AgentActionsOptions {
  /** Name of the conversation. */
  readonly conversation: () => string;
  /** The calls to the root, which knows the requests of all conversations. */
  readonly index: () => Pick<ApprovalIndexCalls, "noteApproval" | "approvalHints" | "grantPlaces">;
  /** Returns the calls to another conversation. */
  readonly callsTo: (
    conversation: string,
  ) => Pick<DecidesApprovals, "lookAtApprovals" | "bringApproval" | "lookAtGrants" | "endGrant">;
  readonly agent: AgentMethods;
  readonly name: () => string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly env: object;
  readonly thread: () => ThreadRuntime;
  readonly messengers: Pick<DeclaredMessengers, "find" | "isDeclared" | "context">;
  /** Actions of the product that the bot has switched on. */
  readonly switchedOn: () => ThinkActions;
  /** The ledger of the whole bot: that of the root. */
  readonly botLedger: () => ActionLedger;
  /** The conversation's messages, as the model would read them now. */
  readonly messages: () => Promise<readonly ModelMessage[]>;
  /** The bot's messenger, if it has only one. */
  readonly onlyMessenger: () => string | undefined;
  /** Looks for the address of a target in the root's directories. */
  readonly resolveTarget: (to: ChatTarget) => Promise<Resolution>;
  /** Returns the text that the model has written in a turn so far. */
  readonly textSoFar: (turnId: string) => string;
  /** The turns of scheduled tasks. */
  readonly runs?: ScheduledRunStore;
  /** Tells the keeper of a schedule soon that a run of it goes on. */
  readonly onRunChange?: (run: ScheduledRun) => void;
  /** Makes the loop run at this time at the latest, even if the object dies before. */
  readonly wake: Pick<Wake, "at">;
  /** Runs work after the current event. */
  readonly later: (work: () => void) => void;
}

/** The actions of one object: the bot's, the ledger of their runs, and the approvals that some of them need. */
export class AgentActions {
  readonly desk: ApprovalDesk;
  readonly #news: ApprovalNews;
  readonly #options: AgentActionsOptions;
  readonly #rights: ActionRights;
  /** Tells this life of the object from earlier ones. */
  readonly #process: string;
  #ledger: LocalLedger | undefined;

  constructor(options: AgentActionsOptions) {
    this.#options = options;
    const { agent, deps, log } = options;
    this.#process = deps.newId();
    this.#rights = new ActionRights({ agent, clock: deps.clock, log });
    this.#news = new ApprovalNews({
      ...options,
      note: (report) => options.index().noteApproval(report),
      onRequested: (approval) => this.#requested(approval),
    });
    this.desk = new ApprovalDesk({
      ...options,
      onState: (approval) => {
        this.#news.changed(approval);
        const run = approval.schedule && options.runs?.get(approval.rootRequest);
        if (run === undefined || approval.state === "waiting") return;
        // A delivery to many chats waits for the outcome only.
        if (run.broadcast === undefined || !isOpen(approval.state)) options.onRunChange?.(run);
      },
      onUse: (use) => this.#news.changed(use),
      rights: this.#rights,
      actionNamed: (name) => this.#named(name),
      run: (approval) => this.#runApproved(approval),
      outcomeOf: (use) => this.#outcomeOf(use),
      keepMs: () => agent.keepApprovalsMs,
      texts: () => agent.texts ?? {},
      words: () => agent.approvalWords,
      time: approvalTime(() => agent.getDefaultTimezone()),
      onChange: () => {
        options.wake.at(deps.clock.now() + HEARTBEAT_MS);
        options.later(() => options.thread().poke());
      },
    });
  }

  /** The part of approvals that the conversation's loop calls. */
  get work(): Pick<Approvals, "work" | "isBusy" | "nextWakeAt" | "hasConsent" | "isAsking" | "drop"> {
    const { approvals } = this.desk;
    return {
      hasConsent: (...asked) => approvals.hasConsent(...asked),
      isAsking: (...asked) => approvals.isAsking(...asked),
      drop: (...dropped) => approvals.drop(...dropped),
      work: () => {
        this.#news.tell();
        this.desk.missing.lookOnce();
        return approvals.work();
      },
      isBusy: () => approvals.isBusy(),
      nextWakeAt: () => {
        const times = [approvals.nextWakeAt(), this.#news.tellAgainAt].filter((at) => at !== undefined);
        return times.length === 0 ? undefined : Math.min(...times);
      },
    };
  }

  /** Decides for another system. */
  decideFor(id: string, decided: OutsideDecision): Promise<OutsideResult> {
    return this.desk.outside.decideFor(id, decided);
  }

  /** Returns those of these requests that a person may see in a chat of any conversation. */
  lookAt(ids: readonly string[], viewer: ApprovalViewer): Promise<SeenApproval[]> {
    return this.desk.lookAt(ids, viewer);
  }

  async #requested(approval: IndexedApproval): Promise<void> {
    const { agent, deps, log } = this.#options;
    if (agent.onApprovalRequested === undefined) return;
    try {
      await runBotCode({ clock: deps.clock, log }, "onApprovalRequested", () =>
        agent.onApprovalRequested?.(approval),
      );
    } catch {
      // The log has the reason, and the request waits for people anyway.
    }
  }

  /** Whether some action of the bot may ask people, or this conversation has asked. */
  asksPeople(): boolean {
    try {
      const actions = this.#declared();
      if (Object.values(actions).some(({ kind }) => kind !== "server")) return true;
      return this.desk.approvals.list({ limit: 1 }).length > 0;
    } catch {
      // A turn calls it again, and logs the reason.
      return false;
    }
  }

  /** The ledger of this object. */
  get ledger(): ActionLedger {
    this.#ledger ??= new LocalLedger(this.#options.database, this.#options.deps);
    return this.#ledger;
  }

  /** The bot's tools and actions, for a turn. */
  async tools(botCode: { readonly clock: Clock; readonly log: Log }): Promise<ToolSet> {
    const { agent } = this.#options;
    const own = async (): Promise<ToolSet> => usableTools(this.#gated(await agent.getTools()));
    const tools = await runBotCode(botCode, "getTools", own);
    return runBotCode(botCode, "getActions", () => this.#joined(tools));
  }

  /**
   * The bot's tools and actions, as far as they are known without a turn.
   *
   * @throws {ConfigurationError} `action-name-twice`, `tool-name-twice`
   */
  declaredTools(): ToolSet | Promise<ToolSet> {
    this.#joined({});
    const tools = this.#options.agent.getTools();
    return isThenable(tools)
      ? Promise.resolve(tools).then((listed) => this.#gated(listed))
      : this.#joined(this.#gated(tools));
  }

  /** Puts the bot's tools with `needsApproval` behind a question. */
  #gated(tools: ToolSet): ToolSet {
    return gateTools(tools, this.#turnHost(), turnId);
  }

  #joined(tools: ToolSet): ToolSet {
    return joinTools(tools, compileActions(this.#declared(), this.#turnHost(), turnId));
  }

  /** The host of calls that a turn makes. */
  #turnHost(): ActionHost {
    return this.#host(
      (requestId) =>
        factsOfTurn(
          this.#options.thread().own.info(requestId),
          (id) => this.desk.approvals.get(id),
          this.#options.runs?.get(requestId),
        ),
      (requestId) => requestId,
    );
  }

  /** `ownerOf` names the reply that shows what a turn's action attaches. */
  #host(factsOf: (requestId: string) => CallFacts, ownerOf: (requestId: string) => string): ActionHost {
    const { agent, botLedger, deps, env, log, name, thread } = this.#options;
    return {
      clock: deps.clock,
      claimant: name(),
      process: this.#process,
      leaseMs: agent.actionLedgerPendingRetryLeaseMs,
      ledger: (scope) => (scope === "bot" ? botLedger() : this.ledger),
      context: ({ consent, messages, requestId, toolCallId }) => {
        const { chat, person } = factsOf(requestId);
        return { agent, env, requestId, toolCallId, messages, person, chat, approver: consent?.approver };
      },
      attachments: ({ requestId }) => thread().attachments.recorded.ofCall(ownerOf(requestId)),
      authorize: (call) => this.#rights.decide(call, factsOf(call.request.requestId)),
      ask: (question) => this.desk.consent.ask(question, factsOf(question.request.requestId)),
      useGrant: (question) => this.desk.consent.useGrant(question, factsOf(question.request.requestId)),
      endUse: (request, output) => this.desk.consent.endUse(request, output as Json),
      onFailure: (action, error) => logBotFailure(log, `action ${action}`, error),
    };
  }

  async #runApproved(approval: Approval): Promise<CallOutcome> {
    const { action: name, decidedBy, input, inputHash, ledgerKey, requestId, toolCallId } = approval;
    const action = this.#named(name) ?? (await this.#toolNamed(name));
    if (action === undefined) return { output: actionGone() as unknown as Json, isFailure: true };
    const facts = factsOfApproval(approval);
    const request = {
      name,
      action,
      input,
      requestId,
      toolCallId,
      messages: await this.#options.messages(),
      signal: undefined,
      consent: { approver: decidedBy?.person, inputHash, ledgerKey },
    };
    const output = (await runAction(
      this.#host(
        () => facts,
        () => approvedOwner(approval.id),
      ),
      request,
    )) as Json;
    return { output, isFailure: failureName(output) !== undefined };
  }

  /** Finds out in the ledger what became of a call whose process has ended. */
  async #outcomeOf({ action, inputHash, ledgerKey }: Approval): Promise<CallOutcome> {
    const scope = this.#named(action)?.idempotencyScope;
    const ledger = scope === "bot" ? this.#options.botLedger() : this.ledger;
    const found = await ledger.look(ledgerKey, action, inputHash);
    if (found?.kind !== "settled") {
      const failure = found?.kind === "open" ? outcomeUnknown() : neverRan();
      return { output: failure as unknown as Json, isFailure: true };
    }
    const output = parseOutput(found.output);
    return { output, isFailure: failureName(output) !== undefined };
  }

  /** Returns the action that stands for a tool with `needsApproval`. */
  async #toolNamed(name: string): Promise<Action | undefined> {
    const { agent, deps, log } = this.#options;
    const listed = runBotCode({ clock: deps.clock, log }, "getTools", () => agent.getTools());
    // The log has the reason of a failure.
    return actionOfTool((await listed.catch((): ToolSet => ({})))[name]);
  }

  /** The bot's actions, and those that it has switched on. */
  #declared(): ThinkActions {
    return { ...this.#options.switchedOn(), ...this.#options.agent.getActions() };
  }

  #named(name: string): Action | undefined {
    const actions = this.#declared();
    return Object.entries(actions).find(([key, action]) => (action.name ?? key) === name)?.[1];
  }
}

function turnId(): string {
  return getTurn()?.id ?? "";
}
