/** A question of an action, by the method that asks it. */
export type AskedKind = "confirm" | "choose" | "form";

/** Items of plans that are about questions from inside actions. */
export type QuestionItem =
  /** The action of a proposal asks its requester before its effect. */
  | {
      readonly kind: "questions";
      /** Name of the message whose answer calls the action. */
      readonly token: string;
      readonly asks: readonly AskedKind[];
      readonly expiresAfterMs: number;
    }
  /** A person presses a button of the newest question, or waits for one. */
  | {
      readonly kind: "answer";
      readonly at: number;
      /** Name of the message whose answer has called the action. */
      readonly questions: string;
      readonly token: string;
      /** Id of the person, where several can press. */
      readonly person: "7" | "8";
      /** Which of the buttons that go on. -1: the last one, "Not now". */
      readonly pick: number;
    };
