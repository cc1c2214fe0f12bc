import type { Action } from "../../actions/action.ts";
import type { ActionRequest, ApprovalQuestion } from "../../actions/action-host.ts";
import type { Approval, ApprovalDecision, CallOutcome, VoidReason } from "../../approvals/approval.ts";
import { Approvals } from "../../approvals/approvals.ts";
import type { ApprovalRequest } from "../../approvals/approvals.ts";
import { unreachedWords } from "../../approvals/card-place.ts";
import { pendingApprovalOf } from "../../approvals/pending-approval.ts";
import type { ApprovalRecord, ExecutionDecision, PendingApproval } from "../../approvals/pending-approval.ts";
import type { ApprovalWords } from "../../approvals/decision-word.ts";
import { decisionWords, failureName } from "../../approvals/outcome-words.ts";
import { sayIn } from "../../core/bot-texts.ts";
import type { BotTexts, Say } from "../../core/bot-texts.ts";
import type { ChatTarget, Resolution } from "../../core/chat-target.ts";
import { logBotFailure } from "../../core/bot-code.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Content, Json } from "../../core/content.ts";
import type { Database } from "../../core/database.ts";
import type { Delivery, GonePlace } from "../../core/delivery.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerAuthor, MessengerEvent } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";
import type { MessengerHint } from "../intake/open-questions.ts";
import { isReply } from "../intake/presses.ts";
import { addressOf } from "../replies/address-of.ts";
import type { Cards } from "../replies/cards.ts";
import { outcomeMessage } from "../turns/outcome-message.ts";
import type { ActionRights, CallFacts } from "./action-rights.ts";
import type {
  ApprovalIndexCalls,
  ApprovalViewer,
  DecidesApprovals,
  OutsideDecision,
  OutsideResult,
  SeenApproval,
} from "../root/approval-calls.ts";
import { ApprovalOverview } from "./approval-overview.ts";
import { ApprovalCards, approvalOfCard, decidedIn, outcomeKeyOf } from "./approval-cards.ts";
import { requestOf } from "./approval-question.ts";
import { ApprovalReplies } from "./approval-replies.ts";
import { alert, answerOf, approversInWords } from "./approval-texts.ts";
import type { ScheduledRunStore } from "../../schedules/index.ts";
import { problemOfRun } from "./scheduled-consent.ts";
import type { ConsentProblem } from "./scheduled-consent.ts";
import { GrantOverview } from "./grant-overview.ts";
import { Approvers } from "./approvers.ts";
import { MissingApprovers } from "./missing-approvers.ts";
import { endSchema, pressSchema, showSchema } from "./press-payloads.ts";
import type { ThreadQuestions } from "./thread-runtime-options.ts";
import type { OwnTurns } from "./own-turns.ts";
import { waitingPrompt } from "./waiting-prompt.ts";

export interface ApprovalDeskOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly rights: ActionRights;
  readonly thread: () => {
    readonly cards: Cards;
    readonly own: OwnTurns;
    readonly delivery: Pick<Delivery, "receipt" | "movedTo">;
  };
  readonly messengers: Pick<DeclaredMessengers, "find" | "isDeclared" | "context">;
  /** Name of the conversation. */
  readonly conversation: () => string;
  /** The calls to the root, which knows the requests of all conversations. */
  readonly index: () => Pick<ApprovalIndexCalls, "approvalHints" | "grantPlaces">;
  /** Returns the calls to another conversation. */
  readonly callsTo: (
    conversation: string,
  ) => Pick<DecidesApprovals, "lookAtApprovals" | "bringApproval" | "lookAtGrants" | "endGrant">;
  /** Returns the bot's action of this name. Undefined if the bot no longer has it. */
  readonly actionNamed: (name: string) => Action | undefined;
  /** Runs an approved action. Returns its output, or `{ error }`. */
  readonly run: (approval: Approval) => Promise<CallOutcome>;
  /** Finds out what became of a call that a grant covered, when its turn has ended. */
  readonly outcomeOf: (use: Approval) => Promise<CallOutcome>;
  /** Returns the text that the model has written in a turn so far. */
  readonly textSoFar: (turnId: string) => string;
  /** How long approvals and grants are kept after their end, in milliseconds. */
  readonly keepMs: () => number;
  /** The bot's own words for texts that people read. */
  readonly texts: () => BotTexts;
  /** The words that decide in a reply to a card. */
  readonly words: () => ApprovalWords;
  /** The bot's messenger, if it has only one. */
  readonly onlyMessenger: () => string | undefined;
  /** Looks for the address of a target in the root's directories. */
  readonly resolveTarget: (to: ChatTarget) => Promise<Resolution>;
  /** Called when stored work waits for the loop. */
  readonly onChange: () => void;
  /** Called for each new state of an approval, in the transaction that stores it. */
  readonly onState: (approval: Approval) => void;
  /** Called for each new state of a call that a grant covers, in the transaction that stores it. */
  readonly onUse: (use: Approval) => void;
  /** The turns of scheduled tasks. */
  readonly runs?: Pick<ScheduledRunStore, "get" | "setProblem">;
}

const NOT_DRAWN = { drawnState: undefined, isTold: false } as const;

const NOBODY_DECIDES = {
  code: "approvers-missing",
  problem:
    "A person has to agree to this action, and nobody may: the person who asks may not, and there is nobody else who may. Nobody was asked. Tell the person, and that the bot's team must name somebody who may decide.",
} as const satisfies ConsentProblem;

/** A question that was stored, with a note for the model. */
interface AskedQuestion {
  readonly approvalId: string;
  readonly note: string | undefined;
}

/** Approvals of one conversation, with their cards, presses and outcomes in the chat (I9). */
export class ApprovalDesk implements ThreadQuestions {
  readonly approvals: Approvals;
  readonly grants: GrantOverview;
  readonly missing: MissingApprovers;
  readonly #options: ApprovalDeskOptions;
  readonly #approvers: Approvers;
  readonly #replies: ApprovalReplies;
  readonly #cards: ApprovalCards;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
    const { database, deps, log } = options;
    const onFailure = (error: unknown): void => logBotFailure(log, "approval", error);
    this.#approvers = new Approvers(options);
    this.#cards = new ApprovalCards({ ...options, say: (person) => this.#say(person) });
    this.approvals = new Approvals({
      database,
      clock: deps.clock,
      newId: () => deps.newId(),
      keepMs: () => options.keepMs(),
      mayDecide: async (approval, decider) => {
        const mayDecide = await this.#approvers.mayDecide(approval, decider);
        if (!mayDecide) this.missing.look([approval]);
        return mayDecide;
      },
      run: (approval) => options.run(approval),
      outcomeOf: async (use) =>
        options.thread().own.isRunning(use.requestId) ? undefined : options.outcomeOf(use),
      occurrenceOf: (rootRequest) => options.runs?.get(rootRequest)?.occurrenceKey,
      whyImpossible: (approval) => this.#whyImpossible(approval),
      draw: (approval) => {
        // A waiting question is drawn again when somebody turns out to be out of reach.
        if (approval.state !== "waiting" || !this.#cards.isDrawn(approval)) options.onState(approval);
        // The card shows the newer question by then.
        if (approval.isCardTaken !== true) this.#cards.draw(approval);
      },
      noteUse: (use) => options.onUse(use),
      remind: (approval) => this.#cards.remind(approval),
      tell: (approval) => this.#tell(approval),
      onChange: options.onChange,
      onFailure,
    });
    const { approvals } = this;
    this.missing = new MissingApprovers({ approvals, approvers: this.#approvers, onFailure });
    this.grants = new GrantOverview({
      ...options,
      say: (person) => this.#say(person),
      grants: this.approvals.grants,
    });
    this.#replies = new ApprovalReplies({
      say: (person) => this.#say(person),
      isDecidedIn: (approval, event) =>
        decidedIn(approval, (address) => this.#placeToday(address).threadId)
          .map((address) => this.#placeToday(address))
          .some(
            ({ messengerId, threadId }) => messengerId === event.messengerId && threadId === event.thread.id,
          ),
      approvals: this.approvals,
      words: options.words,
      messageIn: (approval, threadId) => this.#cards.messageIn(approval, threadId),
      newestTurn: () => options.thread().own.newest(),
    });
  }

  /** Asks people about a call. See `ActionHost.ask`. */
  async ask(
    question: ApprovalQuestion,
    facts: CallFacts,
  ): Promise<AskedQuestion | ConsentProblem | undefined> {
    const { action, requestId, toolCallId } = question.request;
    const asked = await this.#requestOf(question, facts);
    const preview = await question.preview();
    const places = await this.#cards.placesOf(action, asked.approvers, facts);
    const problem = problemOfRun({ ...asked, ...places });
    if (problem !== undefined) {
      this.#options.runs?.setProblem(asked.rootRequest, problem.code);
      return problem;
    }
    if (await this.#approvers.isNobody({ ...asked, ...places })) return this.#refuse(asked);
    const approval = this.approvals.request({ ...asked, ...places, preview }, () =>
      this.#options.thread().own.calls.park(requestId, toolCallId),
    );
    if (approval === undefined) return undefined;
    const { id, unreached } = approval;
    return { approvalId: id, note: unreached.length === 0 ? undefined : unreachedWords(unreached) };
  }

  /** Nobody may decide. The chat and the audit have it at once; of a scheduled run its occurrence has it. */
  #refuse(asked: ApprovalRequest): ConsentProblem {
    const { code } = NOBODY_DECIDES;
    if (asked.schedule === undefined) this.approvals.refuse(asked, code);
    else this.#options.runs?.setProblem(asked.rootRequest, code);
    return NOBODY_DECIDES;
  }

  /** Uses a grant for a call. See `ActionHost.useGrant`. */
  async useGrant(
    question: ApprovalQuestion,
    facts: CallFacts,
  ): Promise<{ readonly approver: MessengerAuthor | undefined } | undefined> {
    if (question.offer === undefined) return undefined;
    const unasked = { ...(await this.#requestOf(question, facts)), reason: undefined, isExplained: false };
    const use = await this.approvals.granted.use({ ...unasked, successor: undefined, ...NOT_DRAWN });
    return use && { approver: use.decidedBy?.person };
  }

  /** Stores the outcome of a call for which a grant may have been used. */
  endUse({ requestId, toolCallId }: ActionRequest, output: Json): void {
    this.approvals.granted.end(requestId, toolCallId, output, failureName(output) !== undefined);
  }

  async #requestOf(question: ApprovalQuestion, facts: CallFacts): Promise<ApprovalRequest> {
    const { deps, textSoFar, thread } = this.#options;
    const { requestId } = question.request;
    const approvers = await this.#approvers.ruleOf(question, facts);
    return requestOf(question, {
      ...facts,
      approvers,
      turn: thread().own.info(requestId),
      textSoFar: textSoFar(requestId),
      approvalOf: (id) => this.approvals.get(id),
      now: deps.clock.now(),
    });
  }

  /** The calls that wait for a person. */
  pending(executionId: string | undefined): PendingApproval[] {
    return this.approvals
      .waiting()
      .filter(({ id }) => executionId === undefined || id === executionId)
      .map(pendingApprovalOf);
  }

  /** Returns those of these approvals that are still kept. */
  read(ids: readonly string[]): ApprovalRecord[] {
    return ids.map((id) => this.approvals.get(id)).filter((one) => one !== undefined);
  }

  /** Decides for the bot's own code, which has checked the caller. */
  async decide(id: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    const result = await this.approvals.decide(id, decision, { surface: "api" });
    if (result.kind === "unknown") return { kind: "unknown" };
    const { approval, kind } = result;
    return { kind: kind === "not-allowed" ? "unknown" : kind, approval };
  }

  /** Decides for another system. The same decision of the same actor again is no error. */
  async decideFor(id: string, { inputHash, ...asked }: OutsideDecision): Promise<OutsideResult> {
    const { actor, decision, isAdmin, person } = asked;
    const known = this.approvals.get(id);
    if (known !== undefined && inputHash !== undefined && inputHash !== known.inputHash)
      return { kind: "other-input" };
    const result = await this.approvals.decide(id, decision, {
      surface: "http",
      name: actor,
      ...(isAdmin === true
        ? { isAdmin }
        : { person: { userId: person?.userId ?? actor, fullName: actor }, messengerId: person?.messengerId }),
    });
    if (result.kind === "unknown") return { kind: "unknown" };
    const { approval, kind } = result;
    if (kind === "not-allowed") return { kind, approvers: approversInWords(approval) };
    const isSame =
      approval.decidedBy?.name === actor && (approval.state === "rejected") === (decision.kind === "reject");
    return { kind: kind === "late" && isSame ? "decided" : kind };
  }

  /** Takes a press of an approval's card, of `/approvals` or of `/grants`. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const show = showSchema.safeParse(press.payload);
    if (show.success) return this.#overview(press.event).show(show.data, viewerOf(press.event, press.person));
    const end = endSchema.safeParse(press.payload);
    if (end.success) return this.grants.press(end.data, viewerOf(press.event, press.person));
    return approvalOfCard(press.cardId) === undefined ? undefined : this.#press(press);
  }

  /** Whether a message that quotes this card is about its approval, and not for the model. */
  takesReply(cardId: string, event: MessengerEvent): boolean {
    const card = approvalOfCard(cardId);
    const approval = card && this.approvals.onCard(card.id).at(-1);
    const isElsewhere = card?.isElsewhere === true || this.#isAskedForOthers(approval);
    return approval !== undefined && this.#replies.takes(approval, event, isElsewhere);
  }

  /** See `OpenQuestions.isBareWord`. */
  isBareWord(event: MessengerEvent): boolean {
    return this.#replies.isBareWord(event);
  }

  /** See `OpenQuestions.hint`. */
  hint(event: MessengerEvent): MessengerHint | undefined {
    return this.#replies.hint(event);
  }

  /** See `OpenQuestions.hintAt`. */
  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined {
    return this.#replies.hintAt(this.approvals.onCard(approvalOfCard(cardId)?.id ?? "").at(-1), event);
  }

  /** The answer to `/approvals`. */
  overview(event: MessengerEvent): Promise<Content> {
    return this.#overview(event).list(viewerOf(event, event.author));
  }

  /** Returns those of these requests of this conversation that a person may see in a chat. */
  lookAt(ids: readonly string[], viewer: ApprovalViewer): Promise<SeenApproval[]> {
    return this.#overview(undefined).look(ids, viewer);
  }

  /** See `DecidesApprovals.bringApproval`. */
  bring(id: string, viewer: ApprovalViewer): Promise<boolean> {
    return this.#overview(undefined).bring(id, viewer);
  }

  /** The answer to `/grants`. */
  listGrants(event: MessengerEvent): Promise<Content> {
    return this.grants.list(viewerOf(event, event.author));
  }

  /** The number of requests that were asked in the chat of an event and still wait. */
  waitingIn({ thread }: MessengerEvent): number {
    return this.approvals
      .waiting()
      .filter(({ origin }) => origin !== undefined && this.#placeToday(origin).threadId === thread.id).length;
  }

  /** The addition to the system prompt while something waits. */
  prompt(): string | undefined {
    return waitingPrompt(this.approvals);
  }

  /** `event`: the one that is answered. */
  #overview(event: MessengerEvent | undefined): ApprovalOverview {
    const { deps } = this.#options;
    return new ApprovalOverview({
      ...this.#options,
      say: (person) => this.#say(person),
      approvals: this.approvals,
      approvers: this.#approvers,
      now: () => deps.clock.now(),
      placeToday: (address) => this.#placeToday(address),
      messageIn: (approval, threadId) => this.#cards.messageIn(approval, threadId),
      pointAt: (messageId) => {
        if (event === undefined) return;
        const policy = replyPolicy(this.#options.messengers.find(event.messengerId)?.delivery ?? {});
        const { cards } = this.#options.thread();
        const start = {
          id: `show:${event.key}`,
          address: addressOf(event),
          policy,
          options: { replyTo: messageId },
        };
        cards.post(start, this.#say(event.author)("hereItIs"));
      },
    });
  }

  /** A group may have moved since a request was asked there. */
  #placeToday(address: Address): Pick<Address, "messengerId" | "threadId"> {
    const { delivery } = this.#options.thread();
    return { ...address, ...delivery.movedTo(address.messengerId, address.chatId) };
  }

  /**
   * A chat accepts no messages any more. Ends the requests that were asked there, and says who cannot be asked there any
   * more.
   */
  chatGone(place: GonePlace): void {
    this.#options.database.transaction(() => {
      for (const approval of this.approvals.lose((one) => this.#cards.lostIn(one, place)))
        this.#cards.tellUnreached(approval);
    });
    const { chatId, messengerId, threadId } = place;
    this.approvals.cancel(({ origin }) =>
      origin?.messengerId === messengerId &&
      origin.chatId === chatId &&
      (threadId === undefined || origin.threadId === threadId)
        ? "chat-gone"
        : undefined,
    );
  }

  /** A person deleted a message. Takes back what was asked because of it. */
  messageDeleted({ author, message, messengerId, thread }: MessengerEvent): void {
    for (const { messageId, origin, requestId } of this.approvals.waiting()) {
      const isMeant = origin?.messengerId === messengerId && origin.threadId === thread.id;
      if (message === undefined || !isMeant || messageId !== message.id) continue;
      const by = author === undefined ? {} : { person: author };
      this.approvals.drop(requestId, "withdrawn", { surface: "chat", ...by, messengerId });
    }
  }

  #whyImpossible({ action, isTool, origin }: Approval): VoidReason | undefined {
    const { actionNamed, messengers } = this.#options;
    try {
      if (origin !== undefined && !messengers.isDeclared(origin.messengerId)) return "messenger-undeclared";
      // Servers of tools may be away for a while, so a missing tool says nothing.
      return isTool || actionNamed(action) !== undefined ? undefined : "action-removed";
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return undefined;
    }
  }

  #say(person: MessengerAuthor | undefined): Say {
    return sayIn(this.#options.texts(), person?.language);
  }

  async #press({ cardId, event, payload, person }: CardPress): Promise<PressAnswer> {
    const say = this.#say(person);
    const shown = this.approvals.onCard(approvalOfCard(cardId)?.id ?? "");
    const newest = shown.at(-1);
    if (isReply(payload))
      return newest === undefined || person === undefined
        ? undefined
        : this.#replies.take(newest, event, person);
    const press = pressSchema.parse(payload);
    const known = shown.find(({ id }) => id === press.approval);
    if (known === undefined || press.inputHash !== known.inputHash) return alert(say("pressUnknown"));
    // A person without an id cannot decide.
    if (person === undefined) return alert(say("pressAnonymous"));
    const { decision, grant } = press;
    const by = { surface: "chat", person, messengerId: event.messengerId } as const;
    const result = await this.approvals.decide(press.approval, { kind: decision, grant }, by);
    return answerOf(result, decision, say);
  }

  #tell(approval: Approval): void {
    const { action, channel, id, input, isExplained, outcome, schedule, state } = approval;
    const address = this.#toldIn(approval);
    const result = outcome ?? (state === "done" ? null : "The action did not run.");
    const isUnseen = schedule !== undefined && address === undefined;
    this.#options.thread().own.submit({
      kind: "outcome",
      idempotencyKey: isExplained ? `${outcomeKeyOf(approval)}:reason` : outcomeKeyOf(approval),
      messages: [
        outcomeMessage(id, {
          action,
          input,
          decision: decisionWords(approval),
          result,
          ...(isUnseen && { unseenTask: schedule.taskId }),
        }),
      ],
      answerTo: address === undefined ? [] : [address],
      metadata: { approval: id },
      channel,
    });
  }

  /** Returns the chat that sees the answer to an outcome. */
  #toldIn(approval: Approval): Address | undefined {
    const { isExplained, reason, rootRequest, schedule } = approval;
    // A chat that is gone is not told, but the conversation is.
    const asked = reason === "chat-gone" ? undefined : this.#addressOf(approval);
    if (schedule === undefined) return asked;
    const shownIn = this.#options.runs?.get(rootRequest)?.shownIn;
    if (shownIn !== undefined)
      return this.#options.messengers.isDeclared(shownIn.messengerId) ? shownIn : undefined;
    // The answer is for the chats of the schedule, unless it is over by now.
    return isExplained ? asked : undefined;
  }

  /** Whether a question was asked in the chat of its schedule's owner, which never sees the conversation of the run. */
  #isAskedForOthers(approval: Approval | undefined): boolean {
    if (approval?.schedule === undefined) return false;
    return this.#options.runs?.get(approval.rootRequest)?.shownIn?.threadId !== approval.origin?.threadId;
  }

  /** The chat of the turn that asked. Undefined if it had none, or the bot does not serve its messenger any more. */
  #addressOf({ origin }: Approval): Address | undefined {
    return origin === undefined || !this.#options.messengers.isDeclared(origin.messengerId)
      ? undefined
      : origin;
  }
}

function viewerOf(
  { messengerId, thread }: MessengerEvent,
  person: MessengerAuthor | undefined,
): ApprovalViewer {
  return { person, messengerId, thread };
}
