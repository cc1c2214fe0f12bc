import type { FlexibleSchema, InferSchema, ModelMessage } from "ai";
import type { MessengerAuthor, MessengerThread } from "../../core/chat/messenger-event.ts";
import type { Answer, ChooseQuestion, ConfirmQuestion, ElicitQuestion } from "../../core/chat/question.ts";
import type { ProgressUpdate } from "./progress.ts";
import type { AllowedFields, ReplyAttachment } from "../../core/message/reply-attachment.ts";
import type { ActionCaller, ActionClient } from "./caller.ts";
import type { ActionLogEntry } from "./log-action-failure.ts";
import type { ShortTermMemory } from "./memory-options.ts";
import type { Sample } from "./sample.ts";

/** The context of an action's `execute`, beside its input. */
export interface ActionContext<Agent = unknown, Env = unknown> {
  /** The agent of the conversation. */
  readonly agent: Agent;
  readonly env: Env;
  /** Id of the turn, which is also the id of its reply. */
  readonly requestId: string;
  readonly toolCallId: string;
  /** The messages that the model was given for this call. */
  readonly messages: readonly ModelMessage[];
  /** Aborts when the turn is stopped, or after the action's `timeoutMs`. */
  readonly signal: AbortSignal;
  /**
   * Number of this run under its key, from 1. Above 1, an earlier run was interrupted and may have had its effect, so
   * check before you repeat it.
   */
  readonly attempt: number;
  /** The person whose message the turn answers. Undefined outside a messenger. */
  readonly person: MessengerAuthor | undefined;
  /** Everybody for whom the action runs: it needs the rights of each. Several if the turn answers several people. */
  readonly people: readonly MessengerAuthor[];
  /** The chat in which the turn runs. Undefined outside a messenger. */
  readonly chat: MessengerThread | undefined;
  /**
   * Adds something to the reply beside its text: a file, a card, a draft of an e-mail. It is sent after the text. The
   * model does not see it. A turn has 32 attachments at most.
   *
   * Counts only if `execute` succeeds, and never for a replayed result. Does nothing in callbacks beside `execute`.
   * Never throws: the result of the action tells the model what cannot be attached and why, and the log has a line
   * `attachment.refused`. Do not change bytes that you have attached.
   */
  readonly attachReply: <const Given extends ReplyAttachment>(
    attachment: Given & AllowedFields<Given>,
  ) => void;
  /** The person who agreed to this run. Undefined if nobody was asked, or if another system agreed. */
  readonly approver: MessengerAuthor | undefined;
  /**
   * Asks a person yes or no. `false` also if nobody answers, or nobody can be asked.
   *
   * A question ends this run: nothing behind it happens, also no `finally`. With the answer `execute` runs again from its
   * start, and comes to the same questions in the same order. Put effects in front of a question into `step`. Waiting
   * does not count in `timeoutMs`. One question at a time. Only in `execute`.
   *
   * @example if (!(await ctx.confirm({ message: "Order 7 has shipped. Cancel it all the same?" }))) return "kept";
   */
  confirm(question: ConfirmQuestion): Promise<boolean>;
  /**
   * Lets a person choose one of several options. See `confirm`.
   *
   * @example const { value, why } = await ctx.choose({ message: "Which size?", options: ["S", "M", "L"] });
   */
  choose<const Value extends string>(question: ChooseQuestion<Value>): Promise<Answer<Value>>;
  /**
   * Asks a person for a value of a schema: a string, number, boolean or enum, a date, e-mail address, file, photo or
   * place, or a flat object of them. See `confirm`.
   *
   * @throws {ConfigurationError} `schema-undescribed` for a Standard Schema that has no JSON Schema
   */
  elicit<Schema extends FlexibleSchema>(
    question: ElicitQuestion<Schema>,
  ): Promise<Answer<InferSchema<Schema>>>;
  /**
   * Does something once, and records its result as JSON. A later run of this call gets the recorded result. A step that
   * throws is not recorded. One that was interrupted is repeated like its action: with `idempotencyKey`, and `attempt`
   * above 1. Only in `execute`.
   *
   * @example const hold = await ctx.step("hold", () => holdItem(sku));
   */
  step<Output>(name: string, work: () => Output | Promise<Output>): Promise<Output>;
  /** Through what the action runs. */
  readonly client: ActionClient;
  /** The program that called the action, and its abilities. */
  readonly caller: ActionCaller;
  /**
   * Shows how far the work is: one line in the chat below the answer so far, and the typing indicator where messages
   * cannot be changed. It is gone with the answer. A run that follows a press or an answer shows a message of its own
   * until it ends. An agent that calls (MCP) is told. Only in `execute`.
   *
   * @example ctx.progress({ message: `Reading page ${page}`, fraction: page / pages });
   */
  readonly progress: (update: ProgressUpdate) => void;
  /**
   * Activates a context of the conversation: see `contexts`. It stays active until `deactivateContext`.
   *
   * @throws {ConfigurationError} `context-name`
   */
  readonly activateContext: (name: string) => void;
  /** @throws {ConfigurationError} `context-name` */
  readonly deactivateContext: (name: string) => void;
  /**
   * Values that templates can name: `{{shortTermMemory.cartId}}`. The conversation keeps each for a day. See
   * `actionTemplates`.
   */
  readonly shortTermMemory: ShortTermMemory;
  /** Writes a line `action.log`. Never put a secret or words of people into it. */
  readonly log: (entry: ActionLogEntry) => void;
  /**
   * Makes one call of the bot's model, without tools and without the conversation. Its tokens count as the turn's, and
   * outside of a turn as those of the person for whom the action runs.
   *
   * @throws if the model fails, or its answer does not fit the schema
   * @example const { topic } = await ctx.sample({ prompt: text, schema: z.object({ topic: z.string() }) });
   */
  readonly sample: Sample;
}

/** The members of a context that belong to one run. */
export type RunMember =
  | "signal"
  | "attempt"
  | "attachReply"
  | "progress"
  | "sample"
  | "confirm"
  | "choose"
  | "elicit"
  | "step";

/** The context of `enabled`: that of a call, as far as it is known before one. */
export type OfferContext<Context = ActionContext> = Pick<
  Context,
  keyof Context & ("agent" | "env" | "requestId" | "person" | "people" | "chat" | "client")
>;
