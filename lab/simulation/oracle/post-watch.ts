import type { Delivery } from "../../../src/core/chat/delivery.ts";
import { classifyError } from "../platform/call-errors.ts";
import type { Invariant, SaidReply, SurfaceCall } from "./contract.ts";
import type { Life } from "../machine/life.ts";
import type { PlannedPolicy } from "../plan/plan.ts";
import { isRunOf, wordsOf } from "./visible-text.ts";

/** Time for which a process remembers that blocks are refused. */
const REFUSED_FOR_MS = 6 * 60 * 60 * 1_000;

export interface PostWatchOptions {
  readonly now: () => number;
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly policy: PlannedPolicy;
  /** Whether the outcome of a lost post can be found out. */
  readonly canSearch: boolean;
}

interface Post {
  /** The row of the post. Undefined if no row is `sending`. */
  readonly row: string | undefined;
  readonly chatId: string;
  readonly life: Life;
  readonly at: number;
  outcome: "open" | "done" | "refused" | "unknown";
  answeredAt: number;
}

/** Longest time that a caller waits for an answer, in milliseconds. */
const CALL_TIMEOUT_MS = 15_000;

/** How often a post may be repeated if its outcome cannot be determined. */
const MOST_RESENT: Readonly<Record<PlannedPolicy["onUnknown"], number>> = {
  "resend-marked": 2,
  resend: 1,
  leave: 0,
};

/** Checks that posts keep to the messenger's policy: how often a lost one is repeated, and which message is quoted. */
export class PostWatch {
  /** Calls that showed blocks, and those of them that the server refused. */
  rich = 0;
  richRefused = 0;
  /** Threads that learned that the server knows no blocks. */
  readonly unsupportedIn = new Set<string>();
  /** Posts that were made again without a mark, because the policy says so. */
  resent = 0;
  readonly #options: PostWatchOptions;
  readonly #posts = new Map<number, Post>();
  /** The id of the message that the reply of a turn answers, if there is one. */
  readonly #answers = new Map<string, string | undefined>();
  /** Replies whose blocks were refused, with the process that learned it. */
  readonly #refused = new Map<string, Life>();
  /** Processes that learned that the server knows no blocks, with the replies that had begun before. */
  #refusedAt = -Infinity;
  readonly #unsupported = new Map<Life, ReadonlySet<string>>();

  constructor(options: PostWatchOptions) {
    this.#options = options;
  }

  /** Records the message that a turn answers, if there is one. */
  answers(threadId: string, replyId: string, messageId: string | undefined): void {
    this.#answers.set(keyOf(threadId, replyId), messageId);
  }

  /** Whether the bot never got, or could not store, the answer of a post. Its message may have no row. */
  isLost(call: number): boolean {
    const post = this.#posts.get(call);
    if (post === undefined) return false;
    if (post.outcome !== "done") return post.outcome !== "refused";
    return post.life.diedAt <= post.answeredAt || post.answeredAt - post.at >= CALL_TIMEOUT_MS;
  }

  hasLostIn(chatId: string): boolean {
    return [...this.#posts].some(([call, post]) => post.chatId === chatId && this.isLost(call));
  }

  /** Whether a post of a reply was lost. */
  hasLost(threadId: string, replyId: string): boolean {
    const rows = `${keyOf(threadId, replyId)}#`;
    return [...this.#posts].some(([call, { row }]) => row?.startsWith(rows) === true && this.isLost(call));
  }

  onCall(call: SurfaceCall, life: Life, replies: readonly SaidReply[], delivery: Delivery | undefined): void {
    const isPost = call.method === "post" || call.method === "begin";
    if (isPost) this.#onPost(call, life, replies, delivery);
    if (call.content?.blocks !== undefined) this.#onRich(call, life, replies, delivery);
  }

  onAnswer(call: SurfaceCall, life: Life, error: unknown, replies: readonly SaidReply[]): void {
    const post = this.#posts.get(call.number);
    const failure = error === undefined ? undefined : classifyError(error);
    if (post !== undefined) {
      post.outcome = failure === undefined ? "done" : failure.kind === "unknown" ? "unknown" : "refused";
      post.answeredAt = this.#options.now();
    }
    if (failure?.code !== "rich-unsupported" && failure?.code !== "rich-refused") return;
    this.richRefused += 1;
    // The caller has given up. The next call finds out about the refusal again.
    if (this.#options.now() - call.at >= CALL_TIMEOUT_MS) return;
    if (failure.code === "rich-unsupported") {
      this.unsupportedIn.add(call.address.threadId);
      const begun = replies.filter(({ conversation }) => conversation === life.name);
      this.#refusedAt = this.#options.now();
      this.#unsupported.set(life, new Set(begun.map(({ id }) => id)));
    }
    if (post?.row !== undefined) this.#refused.set(post.row.split("#")[0] ?? "", life);
  }

  #onPost(
    call: SurfaceCall,
    life: Life,
    replies: readonly SaidReply[],
    delivery: Delivery | undefined,
  ): void {
    const found = sendingRow(call, replies, delivery);
    const { threadId, chatId } = call.address;
    const made = { chatId, life, at: call.at, outcome: "open", answeredAt: Infinity } as const;
    if (found === undefined) {
      this.#posts.set(call.number, { ...made, row: undefined });
      return;
    }
    const { reply, part } = found;
    const row = `${keyOf(threadId, reply.id)}#${part}`;
    this.#checkQuote(call, reply, part);
    // Where nothing can be edited, a restarted attempt is posted again. That is not a repetition, and the posts before
    // the message of the earlier attempt are that message's.
    const posts = [...this.#posts].filter(([, post]) => post.row === row);
    const tried = posts.slice(posts.findLastIndex(([, post]) => post.outcome === "done") + 1);
    const lost = tried.filter(([number]) => this.isLost(number)).length;
    const { onUnknown } = this.#options.policy;
    // Where a search can prove that a post was not made, it may be repeated each time.
    if (!this.#options.canSearch && lost > MOST_RESENT[onUnknown]) {
      this.#options.fail(
        "I6",
        `part ${part} of ${reply.id} is posted again, ${lost} lost, with "${onUnknown}"`,
      );
    }
    if (lost > 0 && onUnknown === "resend") this.resent += 1;
    this.#posts.set(call.number, { ...made, row });
  }

  #checkQuote(call: SurfaceCall, reply: SaidReply, part: number): void {
    const { replyTo } = this.#options.policy;
    const key = keyOf(call.address.threadId, reply.id);
    // A hint and a reminder point at the card that they are about.
    if (reply.id.startsWith("hint:") || /:(?:reminder|refused:\d+|next:[^:]+)$/.test(reply.id)) return;
    if (!this.#answers.has(key) && !reply.isNotice) return;
    const isQuoting =
      !reply.isNotice &&
      part === 0 &&
      (replyTo === "always" || (replyTo === "groups" && !call.address.isDirectMessage));
    const expected = isQuoting ? this.#answers.get(key) : undefined;
    if (call.replyTo !== expected) {
      this.#options.fail(
        "I5",
        `post #${call.number} quotes ${call.replyTo ?? "nothing"} instead of ${expected ?? "nothing"}`,
      );
    }
  }

  /** Checks that blocks are sent only if they are requested, and not again by a process that knows they are refused. */
  #onRich(
    call: SurfaceCall,
    life: Life,
    replies: readonly SaidReply[],
    delivery: Delivery | undefined,
  ): void {
    this.rich += 1;
    if (this.#options.policy.rich === undefined) {
      this.#options.fail("I5", `call #${call.number} shows blocks that nobody has asked for`);
    }
    const { threadId } = call.address;
    const reply = call.method === "post" ? sendingRow(call, replies, delivery)?.reply : undefined;
    if (reply === undefined) return;
    const begun = this.#unsupported.get(life);
    // A process asks again after a while.
    if (this.#options.now() - this.#refusedAt > REFUSED_FOR_MS) return;
    // The form of a reply is decided when it begins.
    const isLate = begun !== undefined && !begun.has(reply.id);
    if (isLate || this.#refused.get(keyOf(threadId, reply.id)) === life) {
      this.#options.fail("I5", `call #${call.number} shows blocks that were refused before`);
    }
  }
}

/**
 * Returns the row of the post that leaves now: that of the newest reply with a `sending` row and these words. A row
 * whose process died before its call is `sending`, too.
 */
function sendingRow(
  call: SurfaceCall,
  replies: readonly SaidReply[],
  delivery: Delivery | undefined,
): { readonly reply: SaidReply; readonly part: number } | undefined {
  const words = wordsOf(call.content?.text ?? "");
  // Files without a caption. They could be those of any reply.
  if (words.length === 0) return undefined;
  for (const reply of replies.toReversed()) {
    if (reply.threadId !== call.address.threadId || !isRunOf(words, wordsOf(reply.text))) continue;
    const receipt = delivery?.receipt(reply.id);
    // A reply whose chat was lost during its post has ended with that row.
    if (receipt?.endedAt !== undefined) continue;
    const row = receipt?.messages.find(({ state }) => state === "sending");
    if (row !== undefined) return { reply, part: row.part };
  }
  return undefined;
}

function keyOf(threadId: string, replyId: string): string {
  return `${threadId}|${replyId}`;
}
