import type { InboxRow } from "../../inbox/inbox-store.ts";
import { followsInBurst, isStale } from "../../inbox/next-batch.ts";
import type { MessagesTurn } from "../../turn/turn-store.ts";
import { isForThread } from "./is-for-thread.ts";
import type { TurnParts } from "./turn-parts.ts";

/**
 * The messages that arrive while a turn of people's messages runs: whether they continue its question, so that it starts
 * over with them, or are news for a later turn. It only reads; `TurnRunner` acts.
 */
export class FollowUps {
  readonly #options: TurnParts;

  constructor(options: TurnParts) {
    this.#options = options;
  }

  /** Returns the time at which a message that could change the running turn may be complete. */
  heldUntil(turn: MessagesTurn): number | undefined {
    const now = this.#options.deps.clock.now();
    const held = this.queuedFor(turn).filter((row) => row.readyAt > now);
    return held.length === 0 ? undefined : Math.min(...held.map(({ readyAt }) => readyAt));
  }

  /**
   * Returns the time until which more of the messages that a turn answers may arrive. Parts that have arrived restart
   * the turn when the message is complete.
   */
  burstEnd(turn: MessagesTurn): number {
    const { burstMs } = this.#options.messengers.get(turn.address.messengerId);
    const [next] = this.queuedFor(turn);
    const lastAt =
      next !== undefined && this.continues(turn, next)
        ? Math.max(turn.lastReceivedAt, next.receivedAt, next.readyAt)
        : turn.lastReceivedAt;
    return lastAt + burstMs;
  }

  /** Whether a new message waits in the turn's thread. Messages from before an outage do not count. */
  hasNews(turn: MessagesTurn): boolean {
    const definition = this.#options.messengers.get(turn.address.messengerId);
    const now = this.#options.deps.clock.now();
    return this.queuedFor(turn).some((row) => row.readyAt <= now && !isStale(row, definition, now));
  }

  /** Whether the next message continues the turn's question, so that the turn starts over with it. */
  isContinued(turn: MessagesTurn): boolean {
    return this.continues(turn, this.queuedFor(turn)[0]);
  }

  /**
   * Returns the waiting messages of the turn's thread that came after its own, in order of arrival. In a group, older
   * messages of other people may wait for a later turn. A conversation may have several threads.
   */
  queuedFor(turn: MessagesTurn): InboxRow[] {
    const newest = Math.max(...turn.messageSeqs);
    return this.#options.inbox.inState("queued").filter((row) => row.seq > newest && isForThread(row, turn));
  }

  /**
   * Whether a message continues the turn's question: it came in quick succession, and no tool with an effect has run.
   */
  continues(turn: MessagesTurn, row: InboxRow | undefined): boolean {
    if (row === undefined || this.hasActed(turn) || (turn.state !== "open" && turn.state !== "ended"))
      return false;
    // A person who replies to the bot's answer has read it, and wants it to stay.
    if (row.event?.message?.quoted?.isFromBot === true) return false;
    const last = this.#options.inbox.rows(turn.messageSeqs).at(-1);
    if (last === undefined || turn.session !== this.#options.memory.session()) return false;
    return followsInBurst(last, row, this.#options.messengers.get(row.messengerId).burstMs);
  }

  /** Whether a turn has had an effect, or will have one that people have agreed to. */
  hasActed({ acted, id }: MessagesTurn): boolean {
    return acted || this.#options.consent?.hasConsent(id) === true;
  }
}
