import type { Json } from "../message/content.ts";
import type { MessengerAuthor } from "./messenger-event.ts";

/**
 * Why a question has no answer.
 *
 * - `declined`: the person pressed "Not now", or wrote `/stop` or `/new`
 * - `expired`: nobody answered in time
 * - `nobody`: there is nobody who could be asked, or nobody can be reached
 * - `unsupported`: the schema asks for something that no form in a chat can ask for
 */
export type Unanswered = "declined" | "expired" | "nobody" | "unsupported";

/** Answer to a question: its value, or why there is none. */
export type Answer<Value> =
  | { readonly value: Value; readonly why?: undefined }
  | { readonly value?: undefined; readonly why: Unanswered };

/** The people who may answer a question. The first answer counts. */
export type QuestionPeople = "requester" | { readonly person: string } | { readonly role: string };

/** What every question to people has. */
export interface QuestionOptions {
  /** The question. Markdown, at most 2,000 characters. */
  readonly message: string;
  /**
   * The people who may answer: the person for whom the action runs, somebody by user id, or everybody to whom
   * `authorizeTurn` grants a permission by a list. Others than the requester are asked in their private chats.
   *
   * @default "requester"
   */
  readonly of?: QuestionPeople;
  /** Time to answer, in milliseconds. At most 89 days. @default 3600000 (an hour) */
  readonly expiresAfterMs?: number;
  /** Time after which people are reminded, once, in milliseconds. `false`: never. @default half of `expiresAfterMs` */
  readonly remindAfterMs?: number | false;
}

/** See `ActionContext.confirm`. */
export interface ConfirmQuestion extends QuestionOptions {
  /** Words of the button that agrees. @default "Yes" */
  readonly yes?: string;
  /** Words of the button that does not agree. @default "No" */
  readonly no?: string;
}

/** See `ActionContext.choose`. */
export interface ChooseQuestion<Value extends string> extends QuestionOptions {
  /** At least one, at most 50. An option is its own label, unless it has another. */
  readonly options: readonly (Value | ChooseOption<Value>)[];
}

export interface ChooseOption<Value extends string> {
  readonly value: Value;
  /** Words of its button, 1 to 64 characters. */
  readonly label: string;
}

/** See `ActionContext.elicit`. */
export interface ElicitQuestion<Schema> extends QuestionOptions {
  /** The wanted value: zod, another Standard Schema that has a JSON Schema, or `jsonSchema` of the AI SDK. */
  readonly schema: Schema;
  /**
   * Names of the fields whose values are masked wherever they would be shown; `true` for all. They are asked only in
   * private chats. Fields with the format `password` always are.
   */
  readonly sensitive?: boolean | readonly string[];
}

/** A question of the bot's own code: see `questions.ask`. */
export type BotQuestion = Omit<ElicitQuestion<never>, "of" | "schema"> & {
  /** The name of its schema in `getQuestions()`. */
  readonly name: string;
};

/** Answer to a question of the bot's own code. `value` is what the schema has made of it. */
export type BotAnswer = Answer<unknown> & {
  /** What `questions.ask` returned. */
  readonly id: string;
  /** The name of its schema in `getQuestions()`. */
  readonly name: string;
  /** The person who answered, or did not want to. */
  readonly person: MessengerAuthor | undefined;
};

/** A question as data. */
export interface AskedQuestion extends QuestionOptions {
  readonly kind: "confirm" | "choose" | "elicit";
  /** JSON Schema of the answer's value. */
  readonly schema: Json;
  /** The sensitive fields, or `true` for all. */
  readonly sensitive?: boolean | readonly string[];
  /** Labels of buttons, by the JSON of their values. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Why an earlier answer to the same question did not fit, for the person. */
  readonly problem?: string;
  /** That answer. */
  readonly earlier?: Json;
}
