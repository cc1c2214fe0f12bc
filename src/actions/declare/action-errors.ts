import type { SchemaIssue } from "../../core/json/check-value.ts";
import type { Json } from "../../core/message/content.ts";
import { SwitchboardError } from "../../core/base/errors.ts";
import { ReplayError } from "../../core/action/run-record.ts";

/**
 * An error that the model may read. Throw it from an action's `execute` with a message that helps the model: what is
 * wrong, and what to do. The messages of all other errors stay in the log, because a model may repeat what it reads (I10).
 *
 * @example throw new ActionError("The order is paid already. Offer a refund instead.");
 */
export class ActionError extends SwitchboardError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super("action-error", message, options);
    this.name = "ActionError";
  }
}

/** The failure that the model reads instead of an output. */
export interface ActionFailure {
  readonly error: {
    readonly name: string;
    readonly message: string;
    /** Where a value does not fit its schema: that of an `ActionInputError` or `ActionOutputError`. */
    readonly issues?: readonly SchemaIssue[];
    /** The permissions that are missing: those of an `ActionAuthorizationError`. */
    readonly permissions?: readonly string[];
  };
}

/** The result of a call, as the model reads it. */
export type ActionOutput = Json | ActionFailure | WaitingResult;

/** The input does not fit the schema. `problem` names the fields. */
export function invalidInput(problem: string, issues?: readonly SchemaIssue[]): ActionFailure {
  return failure("ActionInputError", `The input is not valid: ${problem}`, issues);
}

/** The action ran, and its output does not fit `returns`. */
export function invalidOutput(issues: readonly SchemaIssue[]): ActionFailure {
  return failure(
    "ActionOutputError",
    "The action ran, but its result is not usable. Do not call it again. Say that the result is not known.",
    issues,
  );
}

/** `enabled` says no. */
export function notEnabled(): ActionFailure {
  return failure(
    "ActionDisabledError",
    "This action is not available now. Nothing was done. Do not try again.",
  );
}

/**
 * The cause of a failure, for doors that have codes of their own.
 *
 * - `input`: the input does not fit; nothing ran
 * - `handler`: the action ran and failed, or its output does not fit
 * - `refused`: the call was not allowed, and nothing ran
 * - `unknown`: it may have had its effect
 */
export type FailureKind = "input" | "handler" | "refused" | "unknown";

const KINDS: Readonly<Record<string, FailureKind>> = {
  ActionInputError: "input",
  ActionError: "handler",
  ActionFailed: "handler",
  ActionOutputError: "handler",
  ActionUnknownError: "unknown",
  ActionPendingError: "unknown",
};

/** Returns the cause of a failure, by its name, which never changes. */
export function failureKind({ error }: ActionFailure): FailureKind {
  return KINDS[error.name] ?? "refused";
}

/** The missing permissions, who has them, and the reason that `authorizeTurn` gave, as far as these are known. */
export function notAuthorized(
  missing: readonly string[],
  reason: string | undefined,
  holders?: readonly string[],
): ActionFailure {
  const why = reason === undefined ? "" : ` ${reason}`;
  const what =
    missing.length === 0
      ? "This action is not allowed here."
      : `This action requires ${missing.map((one) => `"${one}"`).join(", ")}, which the person who asks does not have.`;
  const who = missing.length === 0 || holders === undefined ? "" : ` ${holderWords(holders)}`;
  const { error } = failure(
    "ActionAuthorizationError",
    `${what}${who}${why} Nothing was done. Do not try again.`,
  );
  return { error: { ...error, ...(missing.length > 0 && { permissions: missing }) } };
}

const MOST_NAMED = 5;

function holderWords(holders: readonly string[]): string {
  if (holders.length === 0) return "Nobody has it.";
  const named = holders.slice(0, MOST_NAMED).join(", ");
  const left = holders.length - MOST_NAMED;
  return `These people have it: ${named}${left > 0 ? ` and ${left} more` : ""}.`;
}

export function stillPending(): ActionFailure {
  return failure(
    "ActionPendingError",
    "An earlier call of this action has begun, and its outcome is not known. Do not call it again. Say that the outcome is not known yet.",
  );
}

export function outcomeUnknown(): ActionFailure {
  return failure(
    "ActionUnknownError",
    "The action did not finish. It may or may not have had its effect. Do not call it again. Say that the outcome is not known.",
  );
}

export function keyConflict(): ActionFailure {
  return failure(
    "ActionKeyConflict",
    "This action was already called with another input for the same thing. Nothing was done this time.",
  );
}

/** The action needs consent, and nobody can give it. */
export function nobodyToAsk(problem: string): ActionFailure {
  return failure("ActionConsentError", `${problem} Nothing was done. Do not try again.`);
}

/** The schema reads the input differently than when somebody agreed to it. */
export function consentOutdated(): ActionFailure {
  return failure(
    "ActionConsentError",
    "The action has changed since somebody agreed to it. Nothing was done. Ask whether to propose it again.",
  );
}

/** The process ended before the action had begun. */
export function neverRan(): ActionFailure {
  return failure(
    "ActionInterruptedError",
    "The bot was interrupted before the action ran. Nothing was done.",
  );
}

/** The bot no longer has the action. */
export function actionGone(): ActionFailure {
  return failure("ActionGoneError", "The bot does not have this action any more. Nothing was done.");
}

/** An earlier call has asked a person, and waits for the answer. */
export function stillAsking(): ActionFailure {
  return failure(
    "ActionAskingError",
    "An earlier call of this action has asked a person something, and waits for the answer. Nothing was done this time. Do not call it again: you will be told the outcome.",
  );
}

/** The result that the model reads while a person must decide, or answer. */
export interface WaitingResult {
  readonly waiting:
    | { readonly approvalId: string; readonly message: string }
    | { readonly questionId: string; readonly message: string };
}

export function waitingResult(approvalId: string, note?: string): WaitingResult {
  return {
    waiting: {
      approvalId,
      message: `A person has to agree first. Buttons for that are in the chat. The action has not run. Do not call it again: you will be told what was decided.${note === undefined ? "" : ` ${note}`}`,
    },
  };
}

export function askingResult(questionId: string): WaitingResult {
  return {
    waiting: {
      questionId,
      message:
        "The action has asked a person something. The question is in the chat, and the answer goes to the action. It has not finished. Do not call it again, and do not ask the same: you will be told the outcome.",
    },
  };
}

export function isWaitingResult(output: unknown): output is WaitingResult {
  return typeof output === "object" && output !== null && "waiting" in output;
}

export function isFailure(output: unknown): output is ActionFailure {
  return typeof output === "object" && output !== null && "error" in output;
}

/** Returns the failure that the model reads for an exception of `execute`. */
export function actionFailureOf(error: unknown): ActionFailure {
  if (error instanceof ReplayError)
    return failure(error.name, `${error.message} Before: ${error.before}. Now: ${error.now}.`);
  if (error instanceof ActionError) return failure(error.name, error.message);
  return failure("ActionFailed", "The action failed. Its log says why.");
}

function failure(name: string, message: string, issues?: readonly SchemaIssue[]): ActionFailure {
  return { error: { name, message, ...(issues !== undefined && issues.length > 0 && { issues }) } };
}
