/**
 * A question of an action, by the method that asks it. A `form` has buttons only, a `text` is written, `even` is a
 * number whose schema refuses odd ones, `details` are a form with a choice, a text, a number and a date, and `sent` one with
 * an e-mail address, a photo, a file and a place. A `secret` is one sensitive text, and a `login` a form with one.
 */
export type AskedKind =
  | "confirm"
  | "choose"
  | "form"
  | "text"
  | "even"
  | "details"
  | "sent"
  | "secret"
  | "login";

/** Questions whose answers people write or send. */
export type WrittenKind = Exclude<AskedKind, "confirm" | "choose" | "form">;

/** People who are asked in their private chats: Ada, Bob, or everybody who has a permission. */
export type AskedPeople = "ada" | "bob" | "leads";

/** Items of plans that are about questions from inside actions. */
export type QuestionItem =
  /** The action of a proposal asks its requester before its effect. */
  | {
      readonly kind: "questions";
      /** Name of the message whose answer calls the action. */
      readonly token: string;
      readonly asks: readonly AskedKind[];
      /** @default the requester */
      readonly of?: AskedPeople;
      readonly expiresAfterMs: number;
      /** @default nobody is reminded */
      readonly remindAfterMs?: number;
    }
  /** The bot's own code asks something in a place, through the conversation of another place, until that is stored. */
  | {
      readonly kind: "bot-question";
      readonly at: number;
      readonly place: number;
      readonly from: number;
      readonly token: string;
      readonly asks: WrittenKind;
      readonly expiresAfterMs: number;
      readonly remindAfterMs?: number;
    }
  /** The person who is asked answers as people do, in writing and by buttons, and in a group another one joins in. */
  | {
      readonly kind: "fill-in";
      readonly at: number;
      /** Name of the message whose answer has called the action, or of the bot's question. */
      readonly questions: string;
      /** Number of the first message that is written. All begin with 21, and are unique in the run. */
      readonly first: number;
      /** How often somebody does something. */
      readonly acts: number;
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
