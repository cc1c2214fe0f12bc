/**
 * The state of a reply's draft, in memory only. A draft fades by itself, so a crash leaves nothing to repair. The next
 * process starts a new draft under the same id.
 */
export class ReplyDraft {
  /** True if the platform has refused the draft. The reply continues with edits. */
  isRefused = false;
  /** Time at which the draft must be shown again, in epoch milliseconds. `Infinity` if none is visible. */
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

  /** Notes that the draft is gone, or that its text is not known. Returns whether it was visible before. */
  hide(): boolean {
    const wasShown = this.#shownHash !== undefined;
    this.#shownHash = undefined;
    this.refreshAt = Infinity;
    return wasShown;
  }

  /** Notes a failure. Returns the number of consecutive failures. */
  failed(): number {
    this.hide();
    this.#failures += 1;
    return this.#failures;
  }
}
