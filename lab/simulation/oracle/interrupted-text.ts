/**
 * The text of interrupted attempts of the model. It stays visible until the next text is as long, or complete.
 *
 * A process may die while it stores such a text. Then it is unknown whether it did, so there can be several texts of
 * which exactly one is stored. An empty text means no text.
 */
export class InterruptedText {
  #stored: readonly string[] = [""];
  #storing: readonly string[] | undefined;
  /** Length of the longest text of the present attempt. */
  #saidLength = 0;

  /** Texts of which one may have to stay visible. */
  get held(): readonly string[] {
    return this.#stored.filter((text) => this.#isHeld(text));
  }

  /** Whether an earlier text must stay visible, no matter which one is stored. */
  get isHeld(): boolean {
    return this.#stored.every((text) => this.#isHeld(text));
  }

  /** Records the text of the current attempt so far. */
  said(text: string): void {
    this.#saidLength = Math.max(this.#saidLength, text.length);
  }

  /**
   * Records that the attempt with `text` is cut short. A longer text that stays visible already keeps staying. The
   * process may die during this.
   */
  begin(text: string): void {
    const next = text === "" ? this.#stored : this.#stored.map((one) => (this.#isHeld(one) ? one : text));
    this.#storing = [...new Set(next)];
    this.#stored = [...new Set([...this.#stored, ...next])];
    this.#saidLength = 0;
  }

  /** Records that the text is stored. */
  done(): void {
    this.#stored = this.#storing ?? this.#stored;
    this.#storing = undefined;
  }

  /** Records a new process, which has no text of the next attempt yet. */
  restarted(): void {
    this.#storing = undefined;
    this.#saidLength = 0;
  }

  #isHeld(text: string): boolean {
    return text.length > this.#saidLength;
  }
}
