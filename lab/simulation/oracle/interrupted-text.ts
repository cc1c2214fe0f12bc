/** What an attempt of the model has said that was cut short. It stays visible until the next text is as long, or whole. */
export class InterruptedText {
  readonly text: string;
  /** Nothing as long has been said since. */
  isHeld = true;
  /** `false`: the process died while it stored the text, so that nobody knows whether it did. */
  isStored = false;

  constructor(text: string) {
    this.text = text;
  }

  /** This is what the next attempt has said so far. */
  said(text: string): void {
    if (text.length >= this.text.length) this.isHeld = false;
  }

  /** A new process has heard nothing of the next attempt yet. */
  restarted(): void {
    this.isHeld = true;
  }
}

/** The text that stays when an attempt is cut short that has said `text`: a longer one that stays already goes on so. */
export function afterInterruption(
  before: InterruptedText | undefined,
  text: string,
): InterruptedText | undefined {
  return before?.isHeld === true || text === "" ? before : new InterruptedText(text);
}
