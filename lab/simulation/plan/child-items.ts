/** Items of plans that are about agents as tools. */
export type ChildItem =
  /** The answer to a message gives a task to another agent, whose actions have effects outside. */
  | {
      readonly kind: "child";
      /** Name of the message. */
      readonly token: string;
      /** For each call of the agent: whether people must agree to it first. */
      readonly asks: readonly boolean[];
      /** Whether the agent works in the background, and its result is told in a turn of its own. */
      readonly isDetached: boolean;
      /** How an interrupted call of the agent is repeated. See `proposal`. */
      readonly repeats: "keyed" | "never";
      readonly workMs: number;
    }
  /** A person presses a button of a question that the agent asks in the chat, or waits for one. */
  | {
      readonly kind: "press-child";
      readonly at: number;
      /** Name of the message whose answer has given the task. */
      readonly child: string;
      readonly token: string;
      /** Id of the person, where several can press. */
      readonly person: "7" | "8";
      readonly button: "Approve" | "Reject";
    };
