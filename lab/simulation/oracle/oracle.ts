import type { CallRequest, Grant } from "../../../src/core/chat/gate.ts";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import type { Invariant, OperationStore, SaidReply, SurfaceCall, Violation } from "./contract.ts";
import { classifyError, isFinalRefusal, retryAfterOf } from "../platform/call-errors.ts";
import { AlbumWatch } from "./album-watch.ts";
import { ApprovalWatch } from "./approval-watch.ts";
import type { ApprovalFigures } from "./approval-watch.ts";
import { QuestionWatch } from "./question-watch.ts";
import type { QuestionFigures } from "./question-watch.ts";
import { ChildWatch } from "./child-watch.ts";
import type { ChildFigures } from "./child-watch.ts";
import { ExtensionWatch } from "./extension-watch.ts";
import type { ExtensionFigures } from "./extension-watch.ts";
import { CodeWatch } from "./code-watch.ts";
import type { CodeFigures } from "./code-watch.ts";
import { BotAnswerWatch } from "./bot-answer-watch.ts";
import { BudgetCount } from "./budget-count.ts";
import { CardWatch } from "./card-watch.ts";
import type { Life } from "../machine/life.ts";
import { isPartOf, modeProblem } from "./mode-rules.ts";
import { InboxWatch } from "./inbox-watch.ts";
import type { Heard } from "./inbox-watch.ts";
import { LatenessWatch } from "./lateness-watch.ts";
import { PenaltyWatch } from "./penalty-watch.ts";
import { canSearch } from "../plan/plan.ts";
import type { CallFault, Plan } from "../plan/plan.ts";
import type { Platform } from "../platform/platform.ts";
import { PostWatch } from "./post-watch.ts";
import { PressWatch } from "./press-watch.ts";
import { RightWatch } from "./right-watch.ts";
import { Said } from "./said.ts";
import type { SaidFigures } from "./said.ts";
import { TrafficCount } from "../plan/traffic.ts";
import { isMarked, isRunOf, questionWordsOf, turnWordsOf, wordsOf } from "./visible-text.ts";

export interface OracleOptions {
  readonly now: () => number;
  readonly platform: Platform;
  /** Delivery modes by thread. */
  readonly modes: ReadonlyMap<string, DeliveryMode>;
  readonly plan: Pick<Plan, "platform" | "search" | "policy" | "whenBusy" | "places" | "objects" | "items">;
  /** Whether a question is open, as its conversation has stored it. */
  readonly isQuestionOpen: (question: string) => boolean;
}

/** Counts that prove that these cases occur. */
export interface Happened
  extends Heard, SaidFigures, ApprovalFigures, QuestionFigures, CodeFigures, ChildFigures, ExtensionFigures {
  /** Drafts that were shown. */
  drafts: number;
  /** Additions to messages that are streamed into. */
  appends: number;
  /** Presses of buttons that were answered, and those of them in a penalty. */
  presses: number;
  pressesInPenalty: number;
  /** Presses of cards whose handler ran, of buttons that were gone, and those whose process died over them. */
  handled: number;
  stale: number;
  interrupted: number;
  /** Numbers that were handled as an option of a card. */
  typed: number;
  /** Cards that were posted, and how often they were changed and taken away. */
  cards: number;
  revised: number;
  removed: number;
  /** Calls that showed a card with its picture. */
  pictures: number;
  /** Files, albums and places that were sent, messages with files that the platform knew, and ids that it did not know. */
  albums: number;
  byFileId: number;
  fileIdsRefused: number;
  /** Calls that showed blocks, and those of them that the server refused. */
  rich: number;
  richRefused: number;
  /** Posts that were made again without a mark, because the policy says so. */
  resent: number;
  /** Lost posts that were found by their key or in a list, and posts that were made again with their key. */
  found: number;
  repeated: number;
}

/** Limit for wake-ups during penalties. Several short penalties, each met by several threads, stay below it. */
const MOST_IDLE_WAKES = 40;

type Seen = Pick<Happened, "drafts" | "appends" | "found" | "repeated">;

/**
 * Knows everything that was said, and checks that the platform shows it. The first breach of an invariant is kept and
 * ends the run. It is not thrown, because the product catches exceptions.
 */
export class Oracle {
  violation: Violation | undefined;
  readonly said: Said;
  /** Number of messages with the mark, by thread. */
  readonly marks = new Map<string, number>();
  readonly #seen: Seen = { drafts: 0, appends: 0, found: 0, repeated: 0 };
  /** The messages of people, and the turns that answer them. */
  readonly inbox: InboxWatch;
  readonly cards: CardWatch;
  readonly albums: AlbumWatch;
  readonly approvals: ApprovalWatch;
  readonly questions: QuestionWatch;
  readonly code: CodeWatch;
  readonly children: ChildWatch;
  readonly extensions: ExtensionWatch;
  readonly botAnswers: BotAnswerWatch;
  readonly presses: PressWatch;
  readonly posts: PostWatch;
  readonly lateness: LatenessWatch;
  readonly traffic: TrafficCount;
  readonly #now: () => number;
  readonly #platform: Platform;
  readonly #isRich: boolean;
  readonly #modes: ReadonlyMap<string, DeliveryMode>;
  /** Threads in which a draft was refused. Their replies continue with edits. */
  readonly #draftsRefused = new Set<string>();
  readonly #budget = new BudgetCount();
  readonly #rights: RightWatch;
  readonly #penalties: PenaltyWatch;
  readonly #idleWakes = new Map<string, number>();
  readonly #postsUnderWay = new Map<Life, Set<number>>();
  /** Searches for lost posts whose answer is awaited. */
  readonly #searches = new Set<number>();
  /** The thread that each turn of the model answers, by the turn's number. */
  readonly #turns = new Map<number, string>();

  constructor({ now, platform, modes, plan, isQuestionOpen }: OracleOptions) {
    this.#now = now;
    const fail = (invariant: Invariant, message: string): void => this.fail(invariant, message);
    const objects = new Map(
      plan.places.map((place, index) => [place.threadId, plan.objects[index] ?? place.threadId]),
    );
    const conversationOf = (threadId: string): string => objects.get(threadId) ?? threadId;
    this.traffic = new TrafficCount(now, plan);
    this.said = new Said({
      now,
      platform: platform.kind,
      fail,
      conversationOf,
      onText: (conversation, { chatId }) => this.traffic.text(conversation, chatId),
    });
    this.inbox = new InboxWatch({
      now,
      fail,
      isSteering: plan.whenBusy === "steer",
      conversationOf,
      replaces: (threadId, id, earlierId) => this.said.replaces(threadId, id, earlierId),
    });
    this.cards = new CardWatch({ fail, delivery: (conversation) => this.said.delivery(conversation) });
    this.albums = new AlbumWatch({ fail, delivery: (conversation) => this.said.delivery(conversation) });
    this.questions = new QuestionWatch({
      now,
      fail,
      items: plan.items,
      places: plan.places,
      isOpen: isQuestionOpen,
      showsAnswers: plan.platform !== "fixed",
      isGroup: (threadId) =>
        plan.places.some((place) => place.threadId === threadId && !place.isDirectMessage),
    });
    this.code = new CodeWatch({ now, fail, items: plan.items });
    this.children = new ChildWatch({ fail, items: plan.items });
    this.botAnswers = new BotAnswerWatch({ now, fail, questions: this.questions });
    this.approvals = new ApprovalWatch({
      now,
      fail,
      items: plan.items,
      asksItself: (token) => this.questions.asks(token),
      chatOf: (threadId) => plan.places.find((place) => place.threadId === threadId)?.chatId ?? "",
      delivery: (conversation) => this.said.delivery(conversation),
    });
    this.extensions = new ExtensionWatch({ fail, items: plan.items, approvals: this.approvals });
    this.presses = new PressWatch({
      now,
      fail,
      onDecision: (...answer) => {
        this.approvals.answered(...answer);
        this.questions.answered(...answer);
        this.code.answered(...answer);
        this.children.answered(...answer);
      },
      cards: this.cards.cards,
      wasPosted: (threadId, token, messageId) =>
        platform.messages.some(
          (message) =>
            message.threadId === threadId &&
            message.isFromBot &&
            message.id < messageId &&
            message.text.includes(`${token}v`),
        ),
    });
    this.posts = new PostWatch({ now, fail, policy: plan.policy, canSearch: canSearch(plan) });
    this.lateness = new LatenessWatch(now, fail);
    this.#rights = new RightWatch(now, this.said, fail);
    this.#isRich = plan.policy.rich !== undefined;
    this.#penalties = new PenaltyWatch(now);
    this.#platform = platform;
    this.#modes = modes;
  }

  get replies(): ReadonlyMap<string, SaidReply> {
    return this.said.replies;
  }

  fail(invariant: Invariant, message: string): void {
    this.violation ??= { invariant, message };
  }

  /** Records a new operation of the model. */
  onTurn(
    turn: number,
    threadId: string,
    id: string,
    questions: readonly string[],
    operations: OperationStore,
  ): void {
    this.#turns.set(turn, threadId);
    const spokenIn = this.said.reply(threadId, id)?.threadId ?? threadId;
    if (spokenIn !== threadId) this.fail("I11", `${id} answers ${threadId}, and speaks in ${spokenIn}`);
    for (const operation of operations.values()) {
      if (operation.status === "running") {
        this.fail("I3", `the conversation of ${threadId} runs two turns at once: ${operation.id} and ${id}`);
      }
      const again = operation.questions.filter((token) => questions.includes(token));
      if (
        again.length > 0 &&
        operation.status !== "aborted" &&
        !this.said.replaces(threadId, id, operation.id)
      ) {
        this.fail(
          "I2",
          `${again.join(", ")} was answered by ${operation.id} (${operation.status}) and starts ${id}`,
        );
      }
    }
    this.posts.answers(threadId, id, this.inbox.messageIdOf(questions.at(-1) ?? ""));
    if (new Set(questions).size < questions.length) {
      this.fail("I2", `${id} answers a message twice: ${questions.join(", ")}`);
    }
  }

  get happened(): Happened {
    const { rich, richRefused, resent } = this.posts;
    const {
      answered: presses,
      inPenalty: pressesInPenalty,
      handled,
      stale,
      interrupted,
      typed,
    } = this.presses;
    const { cards, pictures, revised, removed } = this.cards;
    const answers = { presses, pressesInPenalty, handled, stale, interrupted, typed };
    return {
      ...this.#seen,
      ...this.said.figures,
      ...this.inbox.heard,
      ...this.approvals.figures,
      ...this.questions.figures,
      ...this.code.figures,
      ...this.children.figures,
      ...this.extensions.figures,
      ...answers,
      cards: cards.size,
      revised,
      removed,
      pictures,
      albums: this.albums.albums.length,
      byFileId: this.albums.byId,
      fileIdsRefused: this.albums.idsRefused,
      rich,
      richRefused,
      resent,
    };
  }

  onCall(shown: SurfaceCall, life: Life, fault: CallFault | undefined): void {
    const call = withoutProgress(shown);
    const { address, method } = call;
    this.traffic.call(life.name, address.chatId);
    this.lateness.call(address.chatId);
    if (fault !== undefined) this.lateness.trouble(address.chatId);
    const { content, notice = "" } = call;
    this.questions.secrets.shows(`${notice} ${JSON.stringify(content ?? "")}`, `call #${call.number}`);
    if (method === "answer") {
      this.presses.onCall(call, life, this.#penalties.isSilent(address.chatId));
      return;
    }
    const early = this.#penalties.check(call, life);
    if (early !== undefined) this.fail("I8", early);
    const missing = this.#budget.use(address.chatId);
    if (missing) this.fail("I7", `call #${call.number} (${method}) was not granted`);
    if (method === "probe") this.#searches.add(call.number);
    this.#checkI11(call);
    this.children.onCall(call);
    if (method === "post" || method === "begin") {
      this.#underWay(life).add(call.number);
      this.#checkI4(call, life);
      if (this.#platform.kind === "telegram") this.#rights.onPost(call, life);
    }
    this.posts.onCall(call, life, [...this.replies.values()], this.said.delivery(life.name));
    // A message may also get the mark later, when it turns out that a second copy may exist.
    const before = call.messageId === undefined ? "" : this.#platform.textOf(address.chatId, call.messageId);
    if (isMarked(call.content?.text ?? "") && !isMarked(before)) {
      this.marks.set(address.threadId, (this.marks.get(address.threadId) ?? 0) + 1);
    }
    if (call.content !== undefined) {
      const named = call.content.media?.map((one) => this.#platform.nameOf(one));
      if (this.approvals.isCard(call.content, address.threadId)) this.approvals.onCall(call, life);
      else if (this.cards.isCard(call.content.text)) this.cards.onCall(call, life, named);
      else if (this.albums.isAlbum(call.content)) this.albums.onCall(call, life, named);
      else this.#checkI5(call, life);
    }
    if (call.content !== undefined && /^\W*\[\[si/i.test(call.content.text)) {
      this.fail("I5", `call #${call.number} shows how the model says that it says nothing`);
    }
  }

  /** Visible messages are judged at the end, and by the calls that leave the process. */
  onProcessed({ method, number }: SurfaceCall, life: Pick<Life, "isDead">): void {
    if (method === "draft") this.#seen.drafts += 1;
    if (method === "append") this.#seen.appends += 1;
    if (method === "find" && this.#platform.lastFound > 0) this.#seen.found += 1;
    const { strippedBySearch } = this.#platform;
    if (strippedBySearch === undefined) return;
    this.#platform.strippedBySearch = undefined;
    // One that nobody waits for any more lands on what its successor has found meanwhile. The card's next edit gives
    // the buttons back, as the check of the end sees.
    const isAwaited = !life.isDead && this.#searches.has(number);
    if (!isAwaited || !this.cards.needsButtons(strippedBySearch)) return;
    this.fail("I5", `call #${number} searches a lost post, and takes the buttons of ${strippedBySearch}`);
  }

  /** The bot stops waiting for a call. */
  onTimeLimit({ number }: SurfaceCall): void {
    this.#searches.delete(number);
  }

  onAnswer(call: SurfaceCall, life: Life, error: unknown): void {
    this.#searches.delete(call.number);
    if (call.method === "answer") this.presses.onAnswer(call, error);
    const isAsking = call.content !== undefined && this.approvals.isCard(call.content, call.address.threadId);
    if (!isAsking && this.cards.isCard(call.content?.text ?? "")) this.cards.onAnswer(call, error);
    this.albums.onAnswer(error, (failed) => classifyError(failed).code);
    this.approvals.onAnswer(call, error);
    this.posts.onAnswer(call, life, error, [...this.replies.values()]);
    this.#underWay(life).delete(call.number);
    if (call.method === "draft" && error !== undefined && isFinalRefusal(error)) {
      this.#draftsRefused.add(call.address.threadId);
    }
    const retryAfterS = retryAfterOf(error);
    if (retryAfterS === undefined) return;
    this.lateness.trouble(call.address.chatId);
    this.#penalties.spoken(call.address, retryAfterS * 1_000, life);
  }

  onGrant({ address, isPost = false, purpose, pacing }: CallRequest, grant: Grant): void {
    if (grant.kind === "wait" && grant.reason === "post" && !isPost) {
      this.fail("I3", `${address.threadId}: ${purpose} waits for a post of somebody else`);
    }
    if (grant.kind === "wait" && grant.reason === "penalty" && !this.#penalties.isSpoken(address.chatId)) {
      this.fail("I8", `${address.threadId}: ${purpose} waits for a penalty that its chat does not have`);
    }
    const problem = this.#budget.count(address, purpose, pacing, grant, this.#now());
    if (problem !== undefined) this.fail("I7", problem);
  }

  onPenalized(address: Address, retryAfterMs: number): void {
    this.#budget.penalized(address.chatId, this.#penalties.told(address, retryAfterMs));
  }

  /**
   * Checks a wake-up of an object. While one of its chats is in a penalty and the others need nothing, it has no work,
   * unless its model is running. If posts were lost, it may wake up now and then to look for their outcome.
   */
  onAlarm(conversation: string, chatIds: readonly string[], isBusy: boolean): void {
    if (isBusy || !chatIds.some((chatId) => this.#penalties.isSilent(chatId))) return;
    const isQuiet = (chatId: string): boolean =>
      this.#penalties.isSilent(chatId) || !this.#hasOpenReply(conversation, chatId);
    if (!chatIds.every(isQuiet) || chatIds.some((chatId) => this.posts.hasLostIn(chatId))) return;
    const wakes = (this.#idleWakes.get(conversation) ?? 0) + 1;
    this.#idleWakes.set(conversation, wakes);
    if (wakes > MOST_IDLE_WAKES) {
      this.fail("I8", `${conversation} is woken again and again during a penalty`);
    }
  }

  #hasOpenReply(conversation: string, chatId: string): boolean {
    const watches = [this.cards, this.albums, this.approvals];
    if (watches.some((watch) => watch.hasOpen(conversation, chatId))) return true;
    const delivery = this.said.delivery(conversation);
    return [...this.replies.values()].some((reply) => {
      if (reply.conversation !== conversation || reply.chatId !== chatId) return false;
      const state = delivery?.receipt(reply.id)?.state;
      return state === undefined || state === "streaming" || state === "final";
    });
  }

  onGateStarted(chatId: string): void {
    this.#budget.restarted(chatId, this.#now());
  }

  #underWay(life: Life): Set<number> {
    const known = this.#postsUnderWay.get(life);
    if (known !== undefined) return known;
    const calls = new Set<number>();
    this.#postsUnderWay.set(life, calls);
    return calls;
  }

  #checkI4(call: SurfaceCall, life: Life): void {
    const { threadId } = call.address;
    const watches = [this.cards, this.albums, this.approvals];
    if (watches.some((watch) => watch.isSending(life.name, threadId))) return;
    const delivery = this.said.delivery(life.name);
    // The newest first, because any match is enough.
    for (const reply of [...this.replies.values()].reverse()) {
      if (reply.threadId !== threadId || reply.conversation !== life.name) continue;
      const messages = delivery?.receipt(reply.id)?.messages ?? [];
      if (messages.some(({ state }) => state === "sending")) return;
    }
    if (call.isRepeated === true) this.#seen.repeated += 1;
    // A process that died before its post leaves a row that looks like a lost one, and its post is repeated.
    if (this.#platform.search === "repeats") return;
    const underWay = this.#underWay(life).size;
    this.fail("I4", `post #${call.number} left with ${underWay} posts under way and no row that says so`);
  }

  /** Checks that no word of one thread is visible in another one. */
  #checkI11({ address, content, number }: SurfaceCall): void {
    const text = content?.text ?? "";
    const threadOf = (word: string): string | undefined =>
      this.#turns.get(Number(/^t(\d+)/.exec(word)?.[1])) ?? this.inbox.threadOf(word);
    const turnWords = turnWordsOf(text);
    const questionWords = questionWordsOf(text);
    // An answer that ended before its first own word may have been cut in its last question: `m6` of `m60`.
    const whole = turnWords.length > 0 ? questionWords : questionWords.slice(0, -1);
    for (const word of [...turnWords, ...whole]) {
      const threadId = threadOf(word);
      if (threadId === address.threadId) continue;
      const where = `shows in ${address.threadId} (${address.chatId})`;
      this.fail("I11", `call #${number} ${where} what was said for ${threadId ?? "nobody"}: ${word}`);
      return;
    }
  }

  /**
   * Checks that a call shows only text that was said, and only as much as the mode allows: a prefix of the current
   * attempt. While an interrupted attempt is longer, the call shows a whole part of that one and nothing else.
   */
  #checkI5(call: SurfaceCall, life: Life): void {
    const { threadId, chatId } = call.address;
    const before = call.method === "append" ? this.#platform.textOf(chatId, call.messageId ?? "") : "";
    const words = wordsOf(before + (call.content?.text ?? ""));
    if (words.length === 0) return;
    let problem: string | undefined;
    for (const reply of this.replies.values()) {
      if (reply.threadId !== threadId || reply.conversation !== life.name) continue;
      const question = {
        call,
        reply,
        mode: this.#modes.get(threadId) ?? "edit",
        platform: this.#platform.kind,
        wereDraftsRefused: this.#draftsRefused.has(threadId),
        isRich: this.#isRich,
      };
      for (const text of reply.isFinal ? [] : reply.interrupted.held) {
        if (!isPartOf(text, before + (call.content?.text ?? ""), question)) continue;
        problem = modeProblem({ ...question, reply: { ...reply, text } });
        if (problem === undefined) return;
      }
      if (!isRunOf(words, wordsOf(reply.text))) continue;
      const isTooEarly = !reply.isFinal && reply.interrupted.isHeld;
      problem = isTooEarly ? "shows less than an interrupted attempt did" : modeProblem(question);
      if (problem === undefined) return;
    }
    this.fail("I5", `call #${call.number} ${problem ?? "shows what is not said"}: ${words.join(" ")}`);
  }
}

/** Returns a call without the line below its text that says how far another agent is. */
function withoutProgress(call: SurfaceCall): SurfaceCall {
  const { content } = call;
  if (content?.text.includes("⏳") !== true) return call;
  return { ...call, content: { ...content, text: content.text.replace(/\s*⏳ Helper[^\n]*$/u, "") } };
}
