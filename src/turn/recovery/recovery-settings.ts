import type { UIMessage } from "ai";
import {
  checkOptions,
  FLAG,
  FUNCTION,
  NOT_NEGATIVE,
  POSITIVE,
  TEXT,
  whole,
} from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";

/** An interruption of a turn: the process died while the model was answering. */
export interface ChatRecoveryContext {
  /** Id of the turn, the same for all its interruptions. */
  readonly incidentId: string;
  /** Id of the turn. */
  readonly requestId: string;
  /** Interruptions since the turn's last complete step, counting this one. From 1. */
  readonly attempt: number;
  /** The limit of `attempt`. */
  readonly maxAttempts: number;
  /** `continue` if the model had begun its answer, else `retry`. */
  readonly recoveryKind: "retry" | "continue";
  /** The turn's text so far, as the model wrote it. */
  readonly partialText: string;
  /** The parts of the answer so far. */
  readonly partialParts: UIMessage["parts"];
  /** Time at which the newest message of the turn arrived, in epoch milliseconds. */
  readonly createdAt: number;
  readonly turn: TurnInfo | undefined;
}

/** The bot's decision about an interrupted turn. */
export interface ChatRecoveryOptions {
  /** Whether the model goes on with its text so far. `false` makes the call again. @default as `interruptedStep` says */
  readonly persist?: boolean;
  /** Whether the turn goes on. `false` ends it, and its text so far stays. @default true */
  readonly continue?: boolean;
}

export interface ChatRecoveryExhaustedContext extends ChatRecoveryContext {
  /**
   * - `max_attempts_exceeded`: it was interrupted too often without a complete step
   * - `max_age_exceeded`: it is too old
   * - `max_tokens_exceeded`: it has used too many tokens
   * - `recovery_aborted`: `onChatRecovery` said so
   */
  readonly reason: "max_attempts_exceeded" | "max_age_exceeded" | "max_tokens_exceeded" | "recovery_aborted";
  /** What the person reads instead of the text of the messenger. */
  readonly terminalMessage: string | undefined;
}

/** How turns go on after the process died in the middle of them. */
export interface ChatRecoveryConfig {
  /** Most interruptions in a row without a complete step. @default 12 */
  readonly maxAttempts?: number;
  /** Age at which a turn no longer goes on, in milliseconds since its newest message arrived. @default none */
  readonly maxAgeMs?: number;
  /**
   * Tokens from which on a turn no longer goes on: those of all its model calls that were answered, in and out, as far as
   * the model's server counts them. @default none
   */
  readonly maxTokens?: number;
  /**
   * What the person reads at the end of a turn that does not go on.
   * @default `interruptedResponseText`, or `errorResponseText` if there is no text so far
   */
  readonly terminalMessage?: string;
  /** Called when a turn does not go on, before its end is stored: again if the process dies meanwhile. */
  readonly onExhausted?: (context: ChatRecoveryExhaustedContext) => void | Promise<void>;
}

/** What is done when a model refuses a transcript as too long. */
export interface ContextOverflowOptions {
  /** Whether the older part is summarized and the call made again. @default true */
  readonly reactive?: boolean;
  /** How often, in one turn: 0 or 1. @default 1 */
  readonly maxRetries?: number;
  /**
   * The model's window. Each call of a turn stays below 90 % of it, and below `maxContextTokens`. @default none
   */
  readonly proactive?: { readonly maxInputTokens: number };
}

/** The bot's settings of recovery. */
export interface RecoverySettings {
  readonly chatRecovery: true | ChatRecoveryConfig;
  readonly contextOverflow: ContextOverflowOptions | undefined;
}

const RECOVERY: OptionRules<ChatRecoveryConfig> = {
  maxAttempts: whole(0),
  maxAgeMs: NOT_NEGATIVE,
  maxTokens: NOT_NEGATIVE,
  terminalMessage: TEXT,
  onExhausted: FUNCTION,
};

const OVERFLOW: OptionRules<ContextOverflowOptions> = {
  reactive: FLAG,
  maxRetries: whole(0, 1),
  proactive: { maxInputTokens: POSITIVE },
};

/** Far more than the limit for model failures. The rest is for crashes. */
const MOST_ATTEMPTS = 12;

/** @throws {ConfigurationError} `recovery-invalid` */
export function checkRecovery({ chatRecovery, contextOverflow }: RecoverySettings): void {
  const code = "recovery-invalid";
  if (chatRecovery !== true) checkOptions(chatRecovery, RECOVERY, { owner: "chatRecovery", code });
  checkOptions(contextOverflow, OVERFLOW, { owner: "contextOverflow", code });
}

/** Returns the settings, with their defaults. */
export function recoveryOf({ chatRecovery }: Pick<RecoverySettings, "chatRecovery">): ChatRecoveryConfig & {
  readonly maxAttempts: number;
} {
  return { maxAttempts: MOST_ATTEMPTS, ...(chatRecovery !== true && chatRecovery) };
}

/** Whether a transcript that a model refuses as too long is summarized once. */
export function isOverflowMended({ contextOverflow }: Pick<RecoverySettings, "contextOverflow">): boolean {
  return contextOverflow?.reactive !== false && contextOverflow?.maxRetries !== 0;
}

/** The share of a model's window that a call may use. */
const WINDOW_SHARE = 0.9;

/** Returns how many tokens of the transcript reach the model. */
export function contextTokensOf({
  contextOverflow,
  maxContextTokens,
}: Pick<RecoverySettings, "contextOverflow"> & { readonly maxContextTokens: number }): number {
  const { maxInputTokens = Number.POSITIVE_INFINITY } = contextOverflow?.proactive ?? {};
  return Math.min(maxContextTokens, Math.floor(maxInputTokens * WINDOW_SHARE));
}
