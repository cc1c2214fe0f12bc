/**
 * What this process knows of a reply's draft. Nothing of it is stored: a draft fades by itself, so that a crash leaves
 * nothing to repair, and the next process begins with a new one under the same id.
 */
export class ReplyDraft {
  /** The platform does not take it: the reply goes on with edits. */
  isRefused = false;
  /** Epoch milliseconds at which it must be shown again; `Infinity` when there is none to be seen. */
  refreshAt = Infinity;
  #shownHash: string | undefined;
  #failures = 0;

  shows(hash: string): boolean {
    return this.#shownHash === hash;
  }

  shown(hash: string, refreshAt: number): void {
    this.#shownHash = hash;
    this.#failures = 0;
    this.refreshAt = refreshAt;
  }

  /** It cannot be seen any more, or it is not known what it shows. Returns whether there was something to be seen. */
  hide(): boolean {
    const wasShown = this.#shownHash !== undefined;
    this.#shownHash = undefined;
    this.refreshAt = Infinity;
    return wasShown;
  }

  /** Returns how often in a row it has failed. */
  failed(): number {
    this.hide();
    this.#failures += 1;
    return this.#failures;
  }
}
