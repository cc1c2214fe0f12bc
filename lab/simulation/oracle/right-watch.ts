import type { Invariant, SurfaceCall } from "./contract.ts";
import type { Life } from "../machine/life.ts";
import type { Said } from "./said.ts";

/** Time for which a gate keeps the right of a silent conversation, from the grant on, in milliseconds. */
const HOLD_MS = 30_000;
/** Longest time from the grant to the post, in milliseconds. */
const WAY_MS = 50;

/**
 * Checks that one post of a chat is in doubt at a time, across its conversations. Otherwise the owner of a message that
 * a search finds would be unknown. A conversation that died during its post also keeps the right for a while.
 */
export class RightWatch {
  readonly #now: () => number;
  readonly #said: Said;
  readonly #fail: (invariant: Invariant, message: string) => void;
  /** Time of each conversation's last post into a chat. */
  readonly #postedAt = new Map<string, number>();

  constructor(now: () => number, said: Said, fail: (invariant: Invariant, message: string) => void) {
    this.#now = now;
    this.#said = said;
    this.#fail = fail;
  }

  onPost({ address, number }: SurfaceCall, by: Life): void {
    const now = this.#now();
    for (const [conversation, { delivery, life }] of this.#said.deliveries) {
      // The conversation itself may have several threads in the chat.
      const isOwn = conversation === by.name;
      if (!delivery.isInDoubt(address, isOwn ? address.threadId : "")) continue;
      if (life.isDead && !this.#isHeld(conversation, address.chatId)) continue;
      const whose = `${conversation}${life.isDead ? ", which has died," : ""}`;
      this.#fail("I6", `post #${number} left while a post of ${whose} in the same chat is in doubt`);
    }
    this.#postedAt.set(`${by.name}|${address.chatId}`, now);
  }

  #isHeld(conversation: string, chatId: string): boolean {
    const at = this.#postedAt.get(`${conversation}|${chatId}`) ?? -Infinity;
    return this.#now() < at + HOLD_MS - WAY_MS;
  }
}
