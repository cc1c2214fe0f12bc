import type { ModelMessage, UIMessage } from "ai";
import type { ReplyState } from "../core/chat/delivery.ts";
import type { TokenUsage } from "../core/turn/token-usage.ts";
import type { NewTurn, Turn } from "./turn-store.ts";

/** The use of a turn, as far as this process has counted it. Anything before a restart is missing. */
export interface TurnStatsEntry {
  /** Number of completed model calls. */
  readonly steps: number;
  readonly toolCalls: number;
  /** Names of the called tools, each once, in order, separated by blanks. */
  readonly tools: string | undefined;
  /** Tokens that the model's server counted. Undefined if it counts none. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Cost of the tokens, by `modelPrices`. Undefined if no model has a price. */
  readonly cost: number | undefined;
}

/** The end of a turn. */
export type TurnEnd =
  | "done"
  | "out-of-steps"
  | "parked"
  | "stopped"
  | "replaced"
  | "steered"
  | "gone"
  | "not-declared"
  | "failed";

/**
 * A fact about a turn. Objects of a fact are not copies, and must not be changed.
 *
 * - `turn-begun`, `turn-ended`: its row is stored, or its end is
 * - `step-begun`, `step-ended`: a model call of the turn with everything that it took, such as a fallback model. A call
 *   that is made again is another step of the same number. Without a code it has succeeded
 * - `model-ended`: one request to a model, also one of an action's `sample`
 * - `tool-begun`, `tool-ended`: a call that runs. One that waits for a person ends as `waiting`
 * - `action-ended`: a call of an action, in its turn or later, with its outcome
 * - `question-ended`, `approval-ended`: people were asked at `beganAt`
 * - `delivery-ended`: an answer of the turn is in its chat, or never will be
 *
 * `beganAt` is in epoch milliseconds. `code` is that of an error.
 */
export type TurnFact =
  | { readonly kind: "turn-begun"; readonly turn: NewTurn }
  | {
      readonly kind: "turn-ended";
      readonly turn: Turn;
      readonly outcome: TurnEnd;
      readonly characters: number | undefined;
      readonly used: TurnStatsEntry;
      readonly beganAt: number;
      /** Whether the process has died meanwhile. What the turn used before is not known. */
      readonly isRestarted: boolean;
    }
  | {
      readonly kind: "step-begun";
      readonly step: number;
      /** The transcript that the model gets. */
      readonly messages: readonly ModelMessage[];
    }
  | {
      readonly kind: "step-ended";
      readonly code: string | undefined;
      /** The stored answer so far. Undefined with a code. */
      readonly message: UIMessage | undefined;
    }
  | {
      readonly kind: "model-ended";
      readonly provider: string;
      readonly model: string;
      readonly code: string | undefined;
      readonly usage: TokenUsage;
      /** By `modelPrices`. 0 if the model has no price. */
      readonly cost: number;
    }
  | { readonly kind: "tool-begun"; readonly callId: string; readonly tool: string; readonly input: unknown }
  | {
      readonly kind: "tool-ended";
      readonly callId: string;
      readonly tool: string;
      readonly outcome: CallOutcome;
      /** The output that the model reads. */
      readonly output: unknown;
    }
  | {
      readonly kind: "action-ended";
      readonly callId: string;
      readonly action: string;
      readonly beganAt: number;
      readonly outcome: CallOutcome;
    }
  | {
      readonly kind: "question-ended" | "approval-ended";
      readonly callId: string | undefined;
      readonly beganAt: number;
      readonly outcome: string;
    }
  | { readonly kind: "delivery-ended"; readonly replyId: string; readonly outcome: ReplyState };

/** `waiting`: for a person. */
export type CallOutcome = "done" | "failed" | "waiting";

export type TurnEvent = TurnFact & {
  readonly turnId: string;
  /** Epoch milliseconds. */
  readonly at: number;
};
