/** One call in the code of a model. */
export interface CodeStep {
  /** Whether people must agree first. */
  readonly asks: boolean;
  /** Whether the outside system undoes it. */
  readonly undoes: "yes" | "no";
}

/** Items of plans that are about code of the model, and about undo. */
export type CodeItem =
  /** The answer to a message runs code, whose calls have effects outside. */
  | {
      readonly kind: "code";
      /** Name of the message. */
      readonly token: string;
      readonly steps: readonly CodeStep[];
      /** Whether the code makes its calls one after the other, or all at once. */
      readonly order: "in-order" | "together";
      /** Whether the code goes on when a call fails. */
      readonly catches: boolean;
      /** The product's own sandbox, or a plain one that is faster. */
      readonly sandbox: "quickjs" | "plain";
      /** The people who may agree. */
      readonly approvers: "ada" | "anyone";
      /** How an interrupted call is repeated. See `proposal`. */
      readonly repeats: "verified" | "keyed" | "never";
      readonly workMs: number;
      readonly expiresAfterMs: number;
      readonly undoForMs: number;
    }
  /** A person presses a button of a card about the code's calls, or waits for one. */
  | {
      readonly kind: "press-code";
      readonly at: number;
      /** Name of the message whose answer has run the code. */
      readonly code: string;
      readonly token: string;
      /** Id of the person, where several can press. */
      readonly person: "7" | "8";
      readonly button: "Approve" | "Reject" | "Undo";
    }
  /** A person asks in words to undo what the bot did last. */
  | {
      readonly kind: "undo-words";
      readonly at: number;
      readonly place: number;
      readonly token: string;
      /** Id of the person, where several can write. */
      readonly person: "7" | "8";
    }
  /** The bot's own code undoes a run that has ended. */
  | { readonly kind: "roll-back"; readonly at: number; readonly code: string };
