import type { FlexibleSchema, InferSchema, Tool } from "ai";
import type { Amount } from "../../core/text/amount.ts";
import type { ApprovalPreview } from "../../core/action/approval-preview.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import type { ChatTarget } from "../../core/chat/chat-target.ts";
import type { GrantScope } from "../../core/action/grant-scope.ts";
import type { LocalText } from "../../core/text/local-text.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { ActionMemory, MemoryOptions } from "./memory-options.ts";
import type { ActionAnnotations } from "./action-annotations.ts";
import type { ActionContext, OfferContext } from "./action-context.ts";

/** One call of an action, as callbacks beside `execute` get it. */
export interface ActionCall<Input, Context> {
  readonly input: Input;
  readonly ctx: Context;
}

/**
 * The result of `verify` about an earlier run.
 *
 * - `done: true`: it had its effect. `output` becomes its result.
 * - `done: false`: it certainly had none, and never will. The action runs again.
 * - `"unknown"`: still not known. The model is told so.
 */
export type ActionVerdict =
  | { readonly done: true; readonly output: unknown }
  | { readonly done: false }
  | "unknown";

/** A run of an action that did not succeed. */
export interface FailedRun<Input, Context> extends ActionCall<Input, Context> {
  /** The value that `execute` threw, or a `TimeoutError` after `timeoutMs`. */
  readonly error: unknown;
  /** Number of runs of this call that have failed, from 1. */
  readonly failures: number;
}

/** Definition of an action. See `action`. */
export interface ActionOptions<
  Schema extends FlexibleSchema,
  Output,
  Context = ActionContext,
  Memory extends FlexibleSchema = FlexibleSchema,
> {
  /** Tells the model what the action does. */
  readonly description: string;
  /**
   * Zod, another Standard Schema, or `jsonSchema` of the AI SDK. Validates the input of `execute` and gives its type.
   */
  readonly inputSchema: Schema;
  /**
   * Does the work. Its output is normalised to JSON and cut at 20,000 characters for the model.
   *
   * If it throws, the model gets `{ error: { name, message } }`, with the message of an `ActionError` only.
   */
  execute(
    input: InferSchema<Schema>,
    ctx: Context & { readonly memory: ActionMemory<InferSchema<Memory>> },
  ): Output | Promise<Output>;
  /** Name of the tool that the model sees. @default the key in `getActions()` */
  readonly name?: string;
  /** More words for the model: when to call the action, and when not. They follow the description. @default none */
  readonly instructions?: string;
  /**
   * Whether the model is offered the action. Asked before each model call, and again before a run. If it throws, the
   * answer is no.
   *
   * @default always
   */
  enabled?(ctx: OfferContext<Context>): boolean | Promise<boolean>;
  /**
   * Names of contexts: the action is offered, and can be called, only while one of them is active in the conversation.
   * See `ctx.activateContext`.
   *
   * @default always
   */
  readonly contexts?: readonly string[];
  /** A value that the action keeps between its runs, as `ctx.memory` of `execute`. @default none */
  readonly memory?: MemoryOptions<Memory>;
  /**
   * Schema of the output, of the same kinds as `inputSchema`. The model reads what the schema makes of the output. If the
   * output does not fit, the model reads that as a failure with `issues`, and nothing runs again: the work is done.
   *
   * @default any output
   */
  readonly returns?: FlexibleSchema;
  /** `false`: an output that does not fit `returns` is logged, and the model gets it as it is. @default true */
  readonly strictOutput?: boolean;
  /**
   * Returns the result as people and the log see it: one short line. The model gets the output itself. Log lines have
   * it in development only.
   *
   * @default the output
   */
  format?(result: { readonly input: InferSchema<Schema>; readonly output: unknown }): string;
  /**
   * Whether a run that failed is made again: up to 3 times, a number of times, or while a function says so, at most 10
   * times. Each run has its own `timeoutMs`, and counts in `ctx.attempt`. Before it there is a rest of 400 ms, doubled
   * each time.
   *
   * Only a function decides about an `ActionError`. A run that took too long may have had its effect: it is repeated only
   * if the action has an `idempotencyKey`, or `verify` says that there was none. A turn that was stopped repeats nothing.
   *
   * @default false
   */
  readonly retry?:
    | boolean
    | number
    | ((failed: FailedRun<InferSchema<Schema>, Context>) => boolean | Promise<boolean>);
  /**
   * Called when the last run has failed. If it throws an `ActionError`, the model reads that. Has ten seconds.
   *
   * @default nothing
   */
  onError?(failed: FailedRun<InferSchema<Schema>, Context>): unknown;
  /**
   * Names the effect, from 1 to 512 characters: an order id, an invoice id. Never a time, a random value or an id of
   * the request. A call with the same key gets the result of the first one, and nothing runs again.
   *
   * A key also says that an interrupted run may be repeated. Without it, the model is told that the outcome of an
   * interrupted run is not known.
   *
   * @default a key for each tool call
   */
  readonly idempotencyKey?:
    | string
    | ((call: ActionCall<InferSchema<Schema>, Context>) => string | Promise<string>);
  /** Whether a key counts within one conversation or within all conversations of the bot. @default "conversation" */
  readonly idempotencyScope?: "conversation" | "bot";
  /**
   * Finds out whether an earlier run of this key had its effect. Asked after a run that was interrupted, stopped or
   * timed out. Must change nothing. Has ten seconds.
   */
  verify?(call: ActionCall<InferSchema<Schema>, Context>): ActionVerdict | Promise<ActionVerdict>;
  /**
   * Undoes a call, given its output as JSON. Throws an `ActionError` that says why if later changes forbid it. It runs once,
   * with the call's permissions. People undo with `switchboard/undo`, code with `rollback`.
   *
   * @default it cannot be undone
   */
  revert?(call: ActionCall<InferSchema<Schema>, Context> & { readonly output: unknown }): unknown;
  /** Permissions that this call requires. See `authorizeTurn`. @default none */
  readonly permissions?:
    | readonly string[]
    | ((call: ActionCall<InferSchema<Schema>, Context>) => readonly string[] | Promise<readonly string[]>);
  /** Time limit of one run, in milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  /**
   * Whether a person must agree before the action runs: always, never, or for some inputs. The model reads at once that
   * the call waits, the turn ends, and the outcome begins a turn of its own.
   *
   * @default false; always with `kind: "durable-pause"` and for actions with the annotation `destructive` or
   *   `requiresConfirmation`
   */
  readonly approval?:
    | boolean
    | ((call: ActionCall<InferSchema<Schema>, Context>) => boolean | Promise<boolean>);
  /**
   * One line that says what will happen, for the person who decides: `Refund 50 € for order 7`. The card makes a
   * question of it. Inputs that a function reads and the line says are not repeated below it.
   *
   * @default the first sentence of the description
   */
  readonly approvalSummary?: string | ((call: { readonly input: InferSchema<Schema> }) => string);
  /**
   * Says what the action changes against today: a sentence, or a list of `{ label, from, to }`. The card shows it. Must
   * change nothing. Has ten seconds; if it fails, the card says that it is not known.
   *
   * @default not said
   * @example preview: async ({ input }) => [{ label: "status", from: (await order(input.orderId)).status, to: "cancelled" }]
   */
  preview?(
    call: ActionCall<InferSchema<Schema>, Context>,
  ): ApprovalPreview | undefined | Promise<ApprovalPreview | undefined>;
  /**
   * Whether the person who decides may agree to more than this call: for the request, for an hour, or always. `true`
   * covers every input. A function says what a grant that is given for this input covers: all inputs for which it
   * returns the same `scope`. Undefined: no grant for this input.
   *
   * A grant counts only for the same person in the same chat. It never covers calls of high risk, or of a destructive
   * action, unless the scope has `evenHighRisk`.
   *
   * @default no grants
   * @example grantable: ({ input }) => input.amountCents <= 10_000 ? { scope: "small", words: "Refunds up to 100 €" } : undefined
   */
  readonly grantable?: true | ((call: { readonly input: InferSchema<Schema> }) => GrantScope | undefined);
  /**
   * The money that this call moves, in the same currency as the `sum` of a grant. It is claimed before the call runs, and
   * given back if the call certainly had no effect. A call without an amount is not covered by a grant with a sum.
   *
   * @default none
   * @example amount: ({ input }) => ({ value: input.amountCents / 100, currency: "EUR" })
   */
  readonly amount?: (call: { readonly input: InferSchema<Schema> }) => Amount | undefined;
  /** Facts about the effect of the action. @default none */
  readonly annotations?: ActionAnnotations;
  /** How much harm the action may do. @default not said */
  readonly approvalRisk?:
    | ApprovalRisk
    | ((call: { readonly input: InferSchema<Schema> }) => ApprovalRisk | undefined);
  /**
   * `durable-pause` asks for approval unless `approval` decides for the input. In a chat it means the same as
   * `approval-gated`: both wait for days, if they must. @default "approval-gated" with `approval`, else "server"
   */
  readonly kind?: ActionKind;
  /**
   * The people who may decide: user ids, everybody who has a role (a permission that `authorizeTurn` grants by a list),
   * `"requester"` (the person who asked), `"anyone"` in the chat, or a function.
   *
   * @default in a private chat the requester. In a group everybody to whom the action's permissions are granted by a
   *   list, and the requester if there is none.
   */
  readonly approvers?: Approvers;
  /** Whether the person who asked may also agree, if `approvers` includes them. @default true */
  readonly requesterMayApprove?: boolean;
  /**
   * The number of different people who must approve, from 1 to 20. One who rejects ends it. Each can undo the own approval
   * until the last one. The bot's own code and an administrator decide alone. No grants above 1, and nobody counts who
   * writes in the name of a chat.
   *
   * @default 1
   */
  readonly quorum?: number;
  /**
   * Where people are asked: in the chat, in the private chats of the approvers, or in one other place. The chat shows
   * the state in any case. If nobody can be reached there, the chat is told at once, and people are asked in it.
   *
   * The bot must know the approvers for `approver-dm`: a list, `"requester"`, or permissions whose `people`
   * `authorizeTurn` names.
   *
   * @default "here"; in a private chat whose person is none of the known approvers, "approver-dm"
   */
  readonly askIn?: "here" | "approver-dm" | AskTarget;
  /** Time after which the people who may decide are reminded, once, in milliseconds. @default no reminder */
  readonly remindAfterMs?: number;
  /**
   * Deputies: user ids, or everybody who has a role. They may decide, too, after `escalateAfterMs`, and at once if none of
   * the people who are asked in private chats can be reached. They are asked in their private chats then.
   *
   * @default nobody
   */
  readonly escalateTo?: readonly (string | number)[] | ApproverRole;
  /** Time after which `escalateTo` is asked as well, in milliseconds. @default only if nobody can be reached */
  readonly escalateAfterMs?: number;
  /**
   * Time to decide, in milliseconds. After that the action cannot run any more. At most 89 days.
   *
   * @default 604800000 (7 days)
   */
  readonly expiresAfterMs?: number;
  /**
   * Paths of the input whose values nobody may see on the card, such as `card.number`. They are masked everywhere on
   * it, also in the summary, the preview, the model's words and the result.
   *
   * @default none
   */
  readonly sensitive?: readonly string[];
  /**
   * Names of inputs on the card, by path: `{ amountCents: "Amount in cents" }`, in one language or in several. They win
   * over the schema's descriptions.
   *
   * @default the input's `.describe()` if it is at most 40 characters without punctuation, or else words of its key
   */
  readonly labels?: Readonly<Record<string, LocalText>>;
}

/** A place to ask people in: a conversation, a chat or a topic, or a person's private chat. */
export type AskTarget = Exclude<ChatTarget, string>;

/** See `ActionOptions.kind`. */
export type ActionKind = "server" | "approval-gated" | "durable-pause";

/** See `ActionOptions.approvers`. */
export type Approvers =
  | "requester"
  | "anyone"
  | readonly (string | number)[]
  | ApproverRole
  | ((person: MessengerAuthor) => boolean | Promise<boolean>);

/** Everybody to whom `authorizeTurn` grants this permission by a list, for example with `roles()`. */
export interface ApproverRole {
  readonly role: string;
}

/** An action of any input and output, as `getActions()` returns it. Made by `action`. */
export interface Action extends Pick<
  ActionOptions<FlexibleSchema, unknown>,
  | "description"
  | "inputSchema"
  | "name"
  | "instructions"
  | "contexts"
  | "returns"
  | "strictOutput"
  | "idempotencyScope"
  | "timeoutMs"
  | "approvers"
  | "requesterMayApprove"
  | "quorum"
  | "expiresAfterMs"
  | "askIn"
  | "remindAfterMs"
  | "escalateTo"
  | "escalateAfterMs"
  | "sensitive"
  | "labels"
  | "annotations"
> {
  readonly kind: ActionKind;
  /** Set if the action stands for a tool with `needsApproval`. */
  readonly isTool?: boolean;
  readonly execute: (input: never, ctx: never) => unknown;
  /** Set if the model reads something else than the stored output. */
  readonly toModelOutput?: (output: unknown) => ModelOutput | PromiseLike<ModelOutput>;
  readonly memory?: MemoryOptions;
  readonly enabled?: (ctx: never) => boolean | Promise<boolean>;
  readonly format?: (result: never) => string;
  readonly retry?: boolean | number | ((failed: never) => boolean | Promise<boolean>);
  readonly onError?: (failed: never) => unknown;
  readonly idempotencyKey?: string | ((call: never) => string | Promise<string>);
  readonly verify?: (call: never) => ActionVerdict | Promise<ActionVerdict>;
  readonly revert?: (call: never) => unknown;
  /** Words about a call for people who want to see more. */
  readonly moreWords?: (call: never) => string | undefined;
  readonly permissions?:
    | readonly string[]
    | ((call: never) => readonly string[] | Promise<readonly string[]>);
  readonly approval?: boolean | ((call: never) => boolean | Promise<boolean>);
  readonly approvalSummary?: string | ((call: never) => string);
  readonly approvalRisk?: ApprovalRisk | ((call: never) => ApprovalRisk | undefined);
  readonly grantable?: true | ((call: never) => GrantScope | undefined);
  readonly amount?: (call: never) => Amount | undefined;
  readonly preview?: (call: never) => ApprovalPreview | undefined | Promise<ApprovalPreview | undefined>;
}

type ModelOutput = Awaited<ReturnType<NonNullable<Tool["toModelOutput"]>>>;

/** The actions of a bot. A key is the name of the tool that the model sees, unless the action has a `name`. */
export type ThinkActions = Readonly<Record<string, Action>>;
