import type { ReplyState } from "../../src/core/delivery.ts";

/** The callers in this process that wait for the ends of replies. */
export class ReplyEnds {
  readonly #waiting = new Map<string, ((state: ReplyState) => void)[]>();

  /** Resolves when the reply ends. */
  of(replyId: string): Promise<ReplyState> {
    return new Promise((resolve) => {
      this.#waiting.set(replyId, [...(this.#waiting.get(replyId) ?? []), resolve]);
    });
  }

  tell(replyId: string, state: ReplyState): void {
    for (const resolve of this.#waiting.get(replyId) ?? []) resolve(state);
    this.#waiting.delete(replyId);
  }
}

export function hasEnded(state: ReplyState): boolean {
  return state !== "streaming" && state !== "final";
}
