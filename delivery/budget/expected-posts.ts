/**
 * The sender of messages whose ids become known: people, the bot into a chat, or the bot at some earlier time.
 */
export type Sender =
  | { readonly kind: "people" }
  | { readonly kind: "bot"; readonly chatId: string }
  | { readonly kind: "bot-earlier" };

/** A post that is about to leave. */
export interface ExpectedPost {
  readonly chatId: string;
  /** Number of messages that it makes: an album has several. */
  readonly messages: number;
  /** Time after which it cannot land any more, in milliseconds. */
  readonly landsWithinMs: number;
}

interface Expected {
  readonly at: number;
  /** Epoch milliseconds. By then its id is known, or it was not made. */
  readonly until: number;
  readonly messages: number;
}

interface Begun {
  /** Time at which the post was about to leave, in epoch milliseconds. */
  readonly at: number;
  readonly id: number;
}

/** Ids above the newest stored one that need no word in the row, because every search asks about a few more. */
const FREE = 4;
/** So many further posts may leave before the row is written again. */
const AHEAD = 8;
/** Time that the id of a message may need to become known here. */
const TELL_MS = 2_000;
/** A post of an earlier process has landed this long after the start. */
const LANDED_MS = 10_000;
/** Number of begun messages that are remembered. */
const MEMORY = 64;

/**
 * Posts of one shared box whose ids the root does not know yet. It answers how high the ids of the bot's own messages
 * can be, also after a restart: `newest + expected` never falls short of them, because each post adds one to it before
 * it leaves, and each known id moves one from the right side to the left.
 *
 * A chat makes one post at a time (the right to post), so its next ids are those of its last post.
 */
export class ExpectedPosts {
  readonly #startedAt: number;
  readonly #open = new Map<string, Expected>();
  #begun: readonly Begun[] = [];
  /** The highest id that posts of an earlier process may have; 0 if the newest known id is above them. */
  #upTo: number;
  #storedUpTo: number;

  constructor({ newest, upTo, startedAt }: { newest: number; upTo: number; startedAt: number }) {
    this.#startedAt = startedAt;
    this.#upTo = upTo;
    this.#storedUpTo = Math.max(upTo, newest + FREE);
  }

  get upTo(): number {
    return this.#upTo;
  }

  /** Adds a post. Returns true if the row must be written before it leaves. */
  add({ chatId, landsWithinMs, messages }: ExpectedPost, now: number, newest: number): boolean {
    this.#open.set(chatId, { at: now, until: now + landsWithinMs + TELL_MS, messages });
    return newest + this.#count(now) > this.#storedUpTo;
  }

  /** Hears of ids that were not known. */
  told(sender: Sender, ids: readonly number[]): void {
    const known = sender.kind === "bot" ? this.#open.get(sender.chatId) : undefined;
    if (sender.kind === "bot" && known !== undefined) {
      this.#open.delete(sender.chatId);
      this.#begun = [...this.#begun, { at: known.at, id: Math.max(...ids) }].slice(-MEMORY);
      // All posts of the earlier process have lower ids than this one.
      if (known.at >= this.#startedAt + LANDED_MS) this.#upTo = 0;
    }
    // These ids are none of the earlier process's, so its highest one may be as much higher.
    if (this.#upTo > 0 && (sender.kind === "people" || known !== undefined)) this.#upTo += ids.length;
  }

  /** Returns the lowest known id of a message that was begun at this time (epoch milliseconds) or later. */
  firstBegunAfter(at: number): number | undefined {
    const ids = this.#begun.filter((one) => one.at >= at).map(({ id }) => id);
    return ids.length === 0 ? undefined : Math.min(...ids);
  }

  /** Returns the highest id that posts may have, with room for the next ones; 0 if a few more ids are enough. */
  toStore(now: number, newest: number): number {
    const count = this.#count(now);
    return Math.max(this.#upTo > newest ? this.#upTo + count : 0, count > FREE ? newest + count + AHEAD : 0);
  }

  stored(newest: number, upTo: number): void {
    this.#storedUpTo = Math.max(upTo, newest + FREE);
  }

  #count(now: number): number {
    let count = 0;
    for (const [chatId, { messages, until }] of this.#open) {
      if (until > now) count += messages;
      else this.#open.delete(chatId);
    }
    return count;
  }
}
