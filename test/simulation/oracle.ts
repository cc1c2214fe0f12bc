import type { CallRequest, Grant } from "../../src/core/gate.ts";
import type { Delivery, DeliveryMode, ReplyStart } from "../../src/core/delivery.ts";
import type { Address } from "../../src/core/surface.ts";
import type { Invariant, OperationStore, SaidReply, SurfaceCall, Violation } from "./contract.ts";
import { STOPPED } from "./contract.ts";
import { isFinalRefusal, retryAfterOf } from "./call-errors.ts";
import { BudgetCount } from "./budget-count.ts";
import type { Life } from "./life.ts";
import { afterInterruption } from "./interrupted-text.ts";
import { isPartOf, modeProblem } from "./mode-rules.ts";
import { InboxWatch } from "./inbox-watch.ts";
import type { Heard } from "./inbox-watch.ts";
import { PenaltyWatch } from "./penalty-watch.ts";
import type { CallFault, Plan } from "./plan.ts";
import type { Platform } from "./platform.ts";
import { PostWatch } from "./post-watch.ts";
import { PressWatch } from "./press-watch.ts";
import { isMarked, isRunOf, wordsOf } from "./visible-text.ts";

type Watched = Pick<Delivery, "open" | "append" | "replace" | "interrupt" | "finish" | "send">;

export interface OracleOptions {
  readonly now: () => number;
  readonly platform: Platform;
  /** How replies appear while they stream, by thread. */
  readonly modes: ReadonlyMap<string, DeliveryMode>;
  readonly plan: Pick<Plan, "policy" | "whenBusy">;
}

/** What happened, for the proof that it does happen. */
export interface Happened extends Heard {
  /** Drafts that were shown. */
  drafts: number;
  /** Additions to messages that are streamed into. */
  appends: number;
  /** Replies that took over the visible messages of another one. */
  takeovers: number;
  /** Attempts that were cut short when something of them was visible. */
  held: number;
  /** Replies that were stopped when something of them was visible. */
  stopped: number;
  /** Notices that were said while a reply was streaming. */
  beside: number;
  /** Presses of buttons that were answered, and those of them in a penalty. */
  presses: number;
  pressesInPenalty: number;
  /** Calls that showed blocks, and those of them that the server refused. */
  rich: number;
  richRefused: number;
  /** Posts that were made again without a mark, because the policy says so. */
  resent: number;
}

/** Several short penalties, each met by several threads, are no more than this. */
const MOST_IDLE_WAKES = 40;

type Seen = Pick<Happened, "drafts" | "appends" | "takeovers" | "held" | "stopped" | "beside">;

/**
 * Knows what was said, and watches what is done about it. The first breach of an invariant is kept and ends the run;
 * it is not thrown, because the product catches what its callees throw.
 */
export class Oracle {
  violation: Violation | undefined;
  readonly replies = new Map<string, SaidReply>();
  /** How many messages got the mark, by thread. */
  readonly marks = new Map<string, number>();
  readonly #seen: Seen = { drafts: 0, appends: 0, takeovers: 0, held: 0, stopped: 0, beside: 0 };
  /** What people have written, and what the turns know of it. */
  readonly inbox: InboxWatch;
  readonly presses: PressWatch;
  readonly posts: PostWatch;
  readonly #now: () => number;
  readonly #platform: Platform;
  readonly #isRich: boolean;
  readonly #modes: ReadonlyMap<string, DeliveryMode>;
  /** Threads in which a draft was refused: the reply goes on with edits. */
  readonly #draftsRefused = new Set<string>();
  readonly #budget = new BudgetCount();
  readonly #deliveries = new Map<string, Delivery>();
  readonly #lives = new Map<string, Pick<Life, "isDead">>();
  readonly #penalties: PenaltyWatch;
  readonly #idleWakes = new Map<string, number>();
  readonly #postsUnderWay = new Map<string, Set<number>>();

  constructor({ now, platform, modes, plan }: OracleOptions) {
    this.#now = now;
    const fail = (invariant: Invariant, message: string): void => this.fail(invariant, message);
    this.inbox = new InboxWatch({
      now,
      fail,
      isSteering: plan.whenBusy === "steer",
      replaces: (threadId, id, earlierId) => this.replaces(threadId, id, earlierId),
    });
    this.presses = new PressWatch(now, fail);
    this.posts = new PostWatch({ now, fail, policy: plan.policy, platform: platform.kind });
    this.#isRich = plan.policy.rich !== undefined;
    this.#penalties = new PenaltyWatch(now);
    this.#platform = platform;
    this.#modes = modes;
  }

  fail(invariant: Invariant, message: string): void {
    this.violation ??= { invariant, message };
  }

  /** Listens to a delivery before anybody uses it. What code of a dead process still says is said by nobody. */
  watch(threadId: string, delivery: Delivery, life: Pick<Life, "isDead">): void {
    this.#deliveries.set(threadId, delivery);
    this.#lives.set(threadId, life);
    this.#postsUnderWay.set(threadId, new Set());
    // A new process: what was only streamed has to be said again.
    for (const reply of this.replies.values()) {
      if (reply.threadId !== threadId) continue;
      const state = delivery.receipt(reply.id)?.state;
      if (state !== undefined && state !== "streaming") continue;
      reply.text = "";
      reply.isFinal = false;
      reply.interrupted?.restarted();
    }
    const real: Watched = {
      open: delivery.open.bind(delivery),
      append: delivery.append.bind(delivery),
      replace: delivery.replace.bind(delivery),
      interrupt: delivery.interrupt.bind(delivery),
      finish: delivery.finish.bind(delivery),
      send: delivery.send.bind(delivery),
    };
    const said = (start: ReplyStart, isNotice: boolean): SaidReply => {
      const known = this.replies.get(keyOf(threadId, start.id));
      if (known !== undefined) return known;
      const { id, takesOver } = start;
      const order = this.replies.size;
      const reply: SaidReply = {
        id,
        threadId,
        isNotice,
        takesOver,
        order,
        text: "",
        interrupted: undefined,
        isFinal: false,
      };
      this.replies.set(keyOf(threadId, id), reply);
      return reply;
    };
    const isNew = ({ id }: ReplyStart): boolean => !this.replies.has(keyOf(threadId, id));
    const isSeen = (id: string): boolean =>
      delivery.receipt(id)?.messages.some(({ state }) => state === "sent") === true;
    const change = (id: string, text: (before: string) => string): void => {
      const reply = this.replies.get(keyOf(threadId, id));
      if (reply !== undefined && !reply.isFinal) reply.text = text(reply.text);
    };
    const say = (id: string, text: (before: string) => string): void => {
      change(id, text);
      const reply = this.replies.get(keyOf(threadId, id));
      reply?.interrupted?.said(reply.text);
    };
    Object.assign(delivery, {
      open: (start: ReplyStart) => {
        if (life.isDead) return real.open(start);
        if (start.takesOver !== undefined && isNew(start) && isSeen(start.takesOver)) {
          this.#seen.takeovers += 1;
        }
        said(start, false);
        real.open(start);
      },
      append: (id: string, delta: string) => {
        if (!life.isDead) say(id, (before) => before + delta);
        real.append(id, delta);
      },
      replace: (id: string, text: string) => {
        if (!life.isDead) say(id, () => text);
        real.replace(id, text);
      },
      interrupt: (id: string) => {
        if (life.isDead) return real.interrupt(id);
        const reply = this.replies.get(keyOf(threadId, id));
        // Messages that cannot be changed stay anyway.
        if (reply !== undefined && !reply.isFinal && this.#platform.kind !== "fixed") {
          if (reply.text !== "" && isSeen(id)) this.#seen.held += 1;
          reply.interrupted = afterInterruption(reply.interrupted, reply.text);
          reply.text = "";
        }
        real.interrupt(id);
        if (reply?.interrupted !== undefined) reply.interrupted.isStored = true;
      },
      finish: (id: string, text: string) => {
        if (life.isDead) return real.finish(id, text);
        if (text.includes(STOPPED) && isSeen(id)) this.#seen.stopped += 1;
        change(id, () => text);
        real.finish(id, text);
        const reply = this.replies.get(keyOf(threadId, id));
        if (reply !== undefined) reply.isFinal = true;
      },
      send: (start: ReplyStart, text: string) => {
        if (life.isDead) return real.send(start, text);
        if (isNew(start) && this.#isStreaming(threadId)) this.#seen.beside += 1;
        const reply = said(start, true);
        reply.text = text;
        reply.isFinal = true;
        real.send(start, text);
      },
    } satisfies Watched);
  }

  /** A new operation of the model. */
  onTurn(threadId: string, id: string, questions: readonly string[], operations: OperationStore): void {
    for (const operation of operations.values()) {
      if (operation.status === "running") {
        this.fail("I3", `${threadId} runs two turns at once: ${operation.id} and ${id}`);
      }
      const again = operation.questions.filter((token) => questions.includes(token));
      if (again.length > 0 && operation.status !== "aborted" && !this.replaces(threadId, id, operation.id)) {
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
    const { answered: presses, inPenalty: pressesInPenalty } = this.presses;
    return { ...this.#seen, ...this.inbox.heard, presses, pressesInPenalty, rich, richRefused, resent };
  }

  reply(threadId: string, id: string): SaidReply | undefined {
    return this.replies.get(keyOf(threadId, id));
  }

  /** Whether a reply takes over an earlier one, or one that took it over. */
  replaces(threadId: string, id: string, earlierId: string): boolean {
    const { takesOver } = this.replies.get(keyOf(threadId, id)) ?? {};
    return (
      takesOver !== undefined && (takesOver === earlierId || this.replaces(threadId, takesOver, earlierId))
    );
  }

  onCall(call: SurfaceCall, life: Life, _fault: CallFault | undefined): void {
    const { address, method } = call;
    if (method === "answer") {
      this.presses.onCall(call.messageId ?? "", life, this.#penalties.isSilent(address.chatId));
      return;
    }
    const early = this.#penalties.check(call);
    if (early !== undefined) this.fail("I8", early);
    const missing = this.#budget.use(address.chatId);
    if (missing) this.fail("I7", `call #${call.number} (${method}) was not granted`);
    if (method === "post" || method === "begin") {
      this.#postsUnderWay.get(address.threadId)?.add(call.number);
      this.#checkI4(call);
      if (this.#platform.kind === "telegram") this.#checkRight(call);
    }
    this.posts.onCall(call, life, [...this.replies.values()], this.#deliveries.get(address.threadId));
    // A message may also get the mark later, when it turns out that another one may stand beside it.
    const before = call.messageId === undefined ? "" : this.#platform.textOf(address.chatId, call.messageId);
    if (isMarked(call.content?.text ?? "") && !isMarked(before)) {
      this.marks.set(address.threadId, (this.marks.get(address.threadId) ?? 0) + 1);
    }
    if (call.content !== undefined) this.#checkI5(call, life);
    if (call.content !== undefined && /^\W*\[\[si/i.test(call.content.text)) {
      this.fail("I5", `call #${call.number} shows how the model says that it says nothing`);
    }
  }

  /** What is visible is judged at the end, and by what leaves the process. */
  onProcessed({ method }: SurfaceCall): void {
    if (method === "draft") this.#seen.drafts += 1;
    if (method === "append") this.#seen.appends += 1;
  }

  onAnswer(call: SurfaceCall, life: Life, error: unknown): void {
    if (call.method === "answer") this.presses.onAnswer(call.messageId ?? "", life, error);
    this.posts.onAnswer(call, life, error, [...this.replies.values()]);
    this.#postsUnderWay.get(call.address.threadId)?.delete(call.number);
    if (call.method === "draft" && error !== undefined && isFinalRefusal(error)) {
      this.#draftsRefused.add(call.address.threadId);
    }
    const retryAfterS = retryAfterOf(error);
    if (retryAfterS === undefined) return;
    this.#penalties.spoken(call.address, retryAfterS * 1_000, life);
  }

  onGrant({ address, isPost = false, purpose, pacing }: CallRequest, grant: Grant): void {
    if (grant.kind === "wait" && grant.reason === "post" && !isPost) {
      this.fail("I3", `${address.threadId}: ${purpose} waits for a post of somebody else`);
    }
    const problem = this.#budget.count(address, purpose, pacing, grant, this.#now());
    if (problem !== undefined) this.fail("I7", problem);
  }

  onPenalized(address: Address, retryAfterMs: number): void {
    this.#budget.penalized(address.chatId, this.#penalties.told(address, retryAfterMs));
  }

  /**
   * An object is woken. During a penalty it has nothing to do, unless its model is at work. Where posts were lost, it
   * looks now and then whether one of them has been heard of.
   */
  onAlarm(chatId: string, isBusy: boolean): void {
    if (isBusy || !this.#penalties.isSilent(chatId) || this.posts.hasLostIn(chatId)) return;
    const wakes = (this.#idleWakes.get(chatId) ?? 0) + 1;
    this.#idleWakes.set(chatId, wakes);
    if (wakes > MOST_IDLE_WAKES) this.fail("I8", `${chatId} is woken again and again during a penalty`);
  }

  onGateStarted(chatId: string): void {
    this.#budget.restarted(chatId, this.#now());
  }

  #isStreaming(threadId: string): boolean {
    for (const reply of this.replies.values()) {
      if (reply.threadId === threadId && !reply.isFinal && reply.text !== "") return true;
    }
    return false;
  }

  /** One post of a chat is in doubt at a time, whoever speaks there: otherwise nobody knows whose it is that is found. */
  #checkRight({ address, number }: SurfaceCall): void {
    for (const [threadId, delivery] of this.#deliveries) {
      if (threadId === address.threadId || this.#lives.get(threadId)?.isDead !== false) continue;
      if (!delivery.isInDoubt(address, address.threadId)) continue;
      this.fail("I6", `post #${number} left while a post of ${threadId} in the same chat is in doubt`);
    }
  }

  #checkI4(call: SurfaceCall): void {
    const { threadId } = call.address;
    const delivery = this.#deliveries.get(threadId);
    // The newest first: that it is there is all that has to be known.
    for (const reply of [...this.replies.values()].reverse()) {
      if (reply.threadId !== threadId) continue;
      const messages = delivery?.receipt(reply.id)?.messages ?? [];
      if (messages.some(({ state }) => state === "sending")) return;
    }
    const underWay = this.#postsUnderWay.get(threadId)?.size ?? 0;
    this.fail("I4", `post #${call.number} left with ${underWay} posts under way and no row that says so`);
  }

  /**
   * What leaves is a rendering of what has been said, and of as much as the mode may show: of a prefix of the current
   * attempt, or while an interrupted one was longer, a whole part of that one and nothing else.
   */
  #checkI5(call: SurfaceCall, _life: Life): void {
    const { threadId, chatId } = call.address;
    const before = call.method === "append" ? this.#platform.textOf(chatId, call.messageId ?? "") : "";
    const words = wordsOf(before + (call.content?.text ?? ""));
    if (words.length === 0) return;
    let problem: string | undefined;
    for (const reply of this.replies.values()) {
      if (reply.threadId !== threadId) continue;
      const question = {
        call,
        reply,
        mode: this.#modes.get(threadId) ?? "edit",
        platform: this.#platform.kind,
        wereDraftsRefused: this.#draftsRefused.has(threadId),
        isRich: this.#isRich,
      };
      const held = reply.isFinal || reply.interrupted?.isHeld !== true ? undefined : reply.interrupted;
      if (held !== undefined && isPartOf(held.text, before + (call.content?.text ?? ""), question)) {
        problem = modeProblem({ ...question, reply: { ...reply, text: held.text } });
        if (problem === undefined) return;
      }
      if (!isRunOf(words, wordsOf(reply.text))) continue;
      problem =
        held?.isStored === true ? "shows less than an interrupted attempt did" : modeProblem(question);
      if (problem === undefined) return;
    }
    this.fail("I5", `call #${call.number} ${problem ?? "shows what is not said"}: ${words.join(" ")}`);
  }
}

/** The ids of replies are unique in their thread only. */
function keyOf(threadId: string, replyId: string): string {
  return `${threadId}|${replyId}`;
}
