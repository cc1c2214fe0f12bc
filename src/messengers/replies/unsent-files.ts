import type { UnsentFile } from "../../core/message/unsent-file.ts";

/** Files that cannot be sent, as people and the model learn of them. */
export interface UnsentFiles {
  /** Returns the text (Markdown) that people read in place of a file, and logs a line. */
  textOf(messengerId: string, file: UnsentFile): string;
  /** Tells the model of a text that people read, once for each id. Call it in the transaction that stores the text. */
  note(id: string, text: string): void;
}
