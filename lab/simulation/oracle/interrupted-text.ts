/**
 * What attempts of the model have said that were cut short. It stays visible until the next text is as long, or whole.
 *
 * A process may die while it stores such a text. Then nobody knows whether it did, so there can be several texts of
 * which exactly one is stored; an empty one stands for none.
 */
export class InterruptedText {
  #stored: readonly string[] = [""];
  #storing: readonly string[] | undefined;
  /** The longest text of the attempt since. */
  #saidLength = 0;

  /** Texts one of which may still have to be shown. */
  get held(): readonly string[] {
    return this.#stored.filter((text) => this.#isHeld(text));
  }

  /** Whether some earlier text has to be shown, whichever of them is stored. */
  get isHeld(): boolean {
    return this.#stored.every((text) => this.#isHeld(text));
  }

  /** This is what the current attempt has said so far. */
  said(text: string): void {
    this.#saidLength = Math.max(this.#saidLength, text.length);
  }

  /** The attempt that has said `text` is cut short: a longer text that stays already goes on so. The process may die. */
  begin(text: string): void {
    const next = text === "" ? this.#stored : this.#stored.map((one) => (this.#isHeld(one) ? one : text));
    this.#storing = [...new Set(next)];
    this.#stored = [...new Set([...this.#stored, ...next])];
    this.#saidLength = 0;
  }

  /** The text is stored. */
  done(): void {
    this.#stored = this.#storing ?? this.#stored;
    this.#storing = undefined;
  }

  /** A new process has heard nothing of the next attempt yet. */
  restarted(): void {
    this.#storing = undefined;
    this.#saidLength = 0;
  }

  #isHeld(text: string): boolean {
    return text.length > this.#saidLength;
  }
}
