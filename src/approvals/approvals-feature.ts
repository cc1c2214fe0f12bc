import type { BotTexts } from "../core/bot-texts.ts";
import { runBotCode } from "../core/bot-code.ts";
import type { CardPress, PressAnswer } from "../core/card-press.ts";
import type { ChatMove } from "../core/chat-move.ts";
import type { GonePlace } from "../core/delivery.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { approvedOwner } from "../messengers/turns/turn-attachments.ts";
import { nudgeKeeper } from "../scheduled-runs/nudge-keeper.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";
import { ApprovalAnswers } from "./approval-answers.ts";
import { approvalCommands } from "./chat/approval-commands.ts";
import { ApprovalDesk } from "./chat/approval-desk.ts";
import { ApprovalNews } from "./chat/approval-news.ts";
import { approvalTime } from "./chat/approval-time.ts";
import { ChatConsent } from "./chat/chat-consent.ts";
import { ExecutionCalls } from "./chat/execution-calls.ts";
import { factsOfApproval } from "./chat/outcome-facts.ts";
import { runQuestionOf } from "./chat/run-question.ts";
import { ApprovalIndex } from "./root/approval-index.ts";
import { APPROVALS } from "./root/approval-calls.ts";
import { isOpen } from "./rules/approval.ts";
import type { Approval, CallOutcome } from "./rules/approval.ts";
import type { IndexedApproval } from "./rules/approval-index.ts";
import type { ApprovalWords } from "./rules/decision-word.ts";
import { failureName } from "./rules/outcome-words.ts";

/** The methods of the bot's class that are about approvals. */
export interface ApprovalMethods {
  readonly approvalWords: ApprovalWords;
  readonly keepApprovalsMs: number;
  readonly texts?: BotTexts;
  getDefaultTimezone(): string | undefined;
  onApprovalRequested?(approval: IndexedApproval): void | Promise<void>;
}

/**
 * People's consent to actions (I9): the questions of one conversation, with their cards, presses and outcomes, and at the
 * root the index of all of them.
 */
export class ApprovalsFeature implements Feature {
  readonly name = "approvals";
  /** The questions of this conversation in its chats. */
  readonly desk: ApprovalDesk;
  readonly consent: ChatConsent;
  readonly calls: ApprovalAnswers;
  /** Approvals, as the bot's own code lists and decides them. */
  readonly executions: ExecutionCalls;
  readonly #host: FeatureHost<ApprovalMethods>;
  readonly #news: ApprovalNews;
  #index: ApprovalIndex | undefined;

  constructor(host: FeatureHost<ApprovalMethods>) {
    this.#host = host;
    const { agent, database, deps, log, messengers, objects } = host;
    this.#news = new ApprovalNews({
      database,
      deps,
      log,
      conversation: () => objects.address(),
      note: (report) => objects.root(APPROVALS).noteApproval(report),
      onRequested: (approval) => this.#requested(approval),
    });
    this.desk = new ApprovalDesk({
      database,
      deps,
      log,
      messengers,
      rights: host.actions.rights,
      runs: host.runs.runs,
      thread: () => host.thread,
      conversation: () => objects.address(),
      index: () => objects.root(APPROVALS),
      callsTo: (conversation) => objects.to(APPROVALS, conversation),
      actionNamed: (name) => host.actions.named(name),
      run: (approval) => this.#run(approval),
      outcomeOf: async ({ action, inputHash, ledgerKey }) =>
        outcomeOf(await host.actions.outputOf(ledgerKey, action, inputHash)),
      textSoFar: (turnId) => host.engine.textSoFar(turnId),
      keepMs: () => agent.keepApprovalsMs,
      texts: () => agent.texts ?? {},
      words: () => agent.approvalWords,
      time: approvalTime(() => agent.getDefaultTimezone()),
      onlyMessenger: () => {
        const [only, ...others] = messengers.all();
        return others.length === 0 ? only?.id : undefined;
      },
      resolveTarget: (to) => objects.link.resolveTarget(to),
      onChange: () => host.wakeSoon(),
      onState: (approval) => this.#changed(approval),
      onUse: (use) => this.#news.changed(use),
    });
    this.consent = new ChatConsent(this.desk);
    this.calls = new ApprovalAnswers(this);
    this.executions = new ExecutionCalls({ host, desk: this.desk, index: () => this.#indexIfRoot() });
  }

  /** Requests of all conversations. Only at the root. */
  get index(): ApprovalIndex {
    const { agent, database, deps, directories, objects } = this.#host;
    this.#index ??= new ApprovalIndex({
      database,
      clock: deps.clock,
      callsTo: (conversation) => objects.to(APPROVALS, conversation),
      keepMs: () => agent.keepApprovalsMs,
      titleOf: (...chat) => directories.titleOf(...chat),
      titleOfConversation: (name) => directories.titleOfConversation(name),
    });
    return this.#index;
  }

  #indexIfRoot(): ApprovalIndex | undefined {
    return this.#host.objects.isRoot() ? this.index : undefined;
  }

  get questions(): ApprovalDesk {
    return this.desk;
  }

  get runQuestions(): RunQuestions {
    const { approvals } = this.desk;
    return {
      ofTurn: (turnId) => approvals.ofTurn(turnId).map(runQuestionOf),
      rootOf: (id) => approvals.get(id)?.rootRequest,
      dropRun: (turnId) => approvals.dropRun(turnId),
    };
  }

  work(): Promise<void> {
    this.#news.tell();
    this.desk.missing.lookOnce();
    return this.desk.approvals.work();
  }

  isBusy(): boolean {
    return this.desk.approvals.isBusy();
  }

  nextWakeAt(): number | undefined {
    const times = [this.desk.approvals.nextWakeAt(), this.#news.tellAgainAt].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** `/approvals` and `/grants`, if some action of the bot may ask people. */
  commands(): ThinkCommands {
    return this.#asksPeople() ? approvalCommands(this.#host.agent.texts ?? {}, this.desk) : {};
  }

  prompt(): string | undefined {
    return this.desk.prompt();
  }

  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return this.desk.pressed(press);
  }

  chatGone(place: GonePlace): void {
    this.desk.chatGone(place);
  }

  conversationMoved(messengerId: string, move: ChatMove): void {
    this.desk.conversationMoved(messengerId, move);
  }

  /** Whether some action of the bot may ask people, or this conversation has asked. */
  #asksPeople(): boolean {
    try {
      const actions = this.#host.actions.declared();
      if (Object.values(actions).some(({ kind }) => kind !== "server")) return true;
      return this.desk.approvals.list({ limit: 1 }).length > 0;
    } catch {
      // A turn calls it again, and logs the reason.
      return false;
    }
  }

  /** Tells the root and the bot's hook, and those who wait for the run of a schedule. */
  #changed(approval: Approval): void {
    this.#news.changed(approval);
    const { log, objects, runs } = this.#host;
    const run = approval.schedule && runs.runs.get(approval.rootRequest);
    if (run === undefined || approval.state === "waiting") return;
    // A delivery to many chats waits for the outcome only.
    if (run.broadcast === undefined || !isOpen(approval.state))
      this.#host.later(() => void nudgeKeeper(objects, run, log));
  }

  async #run(approval: Approval): Promise<CallOutcome> {
    const { action: name, decidedBy, id, input, inputHash, ledgerKey, requestId, toolCallId } = approval;
    const output = await this.#host.actions.runConsented({
      name,
      input,
      requestId,
      toolCallId,
      consent: { approver: decidedBy?.person, inputHash, ledgerKey },
      facts: factsOfApproval(approval),
      owner: approvedOwner(id),
    });
    return outcomeOf(output);
  }

  async #requested(approval: IndexedApproval): Promise<void> {
    const { agent, deps, log } = this.#host;
    if (agent.onApprovalRequested === undefined) return;
    try {
      await runBotCode({ clock: deps.clock, log }, "onApprovalRequested", () =>
        agent.onApprovalRequested?.(approval),
      );
    } catch {
      // The log has the reason, and the request waits for people anyway.
    }
  }
}

function outcomeOf(output: CallOutcome["output"]): CallOutcome {
  return { output, isFailure: failureName(output) !== undefined };
}
