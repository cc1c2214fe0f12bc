import type { ModelMessage, ToolSet } from "ai";
import type { ThinkActions } from "../../actions/declare/action.ts";
import type { SampleRequest } from "../../actions/declare/sample.ts";
import type { ActionCaller } from "../../actions/declare/caller.ts";
import type { ActionStates } from "../../actions/memory/action-states.ts";
import type { ActionLedger } from "../../actions/ledger/ledger.ts";
import type { ActionRequest } from "../../actions/runs/action-host.ts";
import type { EventSink } from "./end-of-call.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { CallFacts, RightsMethods } from "./action-rights.ts";
import type { ActionConsent } from "./action-consent.ts";
import type { ActionQuestions } from "./action-questions.ts";
import type { OutsideAsker } from "./outside-asker.ts";
import type { RunProgressOptions } from "./run-progress.ts";
import type { OwnTurns } from "../thread/own-turns.ts";
import type { Payer } from "../thread/usage-news.ts";
import type { TurnAttachments } from "../turns/turn-attachments.ts";

/** The methods of the bot's class that declare tools and actions. */
export interface ToolMethods extends RightsMethods {
  getTools(): ToolSet | Promise<ToolSet>;
  getActions(): ThinkActions;
  readonly actionLedgerPendingRetryLeaseMs: number | false;
  readonly actionTemplates: boolean;
}

/** The object, as its actions use it. */
export interface BotActionsHost extends RunProgressOptions {
  readonly agent: ToolMethods;
  readonly env: object;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly engine: EventSink;
  name(): string;
  readonly thread: {
    readonly own: Pick<OwnTurns, "info">;
    readonly attachments: Pick<TurnAttachments, "recorded">;
    readonly delivery: RunProgressOptions["thread"]["delivery"];
  };
  readonly features: {
    /** Actions of the product that the bot has switched on. */
    actions(): ThinkActions;
    /** See `Feature.wrapActions`. */
    wrapActions(actions: ThinkActions): ThinkActions;
    /** Loads those that `actions` returns. */
    loadActions(): Promise<void>;
    factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
    /** A call shows how far it is. */
    progressed(turnId: string, line: string): void;
    /** People's consent. Undefined if nobody can be asked. */
    readonly consent: ActionConsent | undefined;
    /** Questions of actions to people. Undefined if actions cannot ask. */
    readonly asking: ActionQuestions | undefined;
    runOf(turnId: string): ScheduledRun | undefined;
  };
  readonly runs: { readonly runs: { get(turnId: string): ScheduledRun | undefined } };
  /** The ledger of the whole bot: that of the root. */
  botLedger(): ActionLedger;
  /** What actions keep for people and for the whole bot: at the root. */
  botStates(): ActionStates;
  /** The conversation's messages, as the model would read them now. */
  messages(): Promise<readonly ModelMessage[]>;
  /** Makes one call of the bot's model. */
  sample(sampler: Sampler, asked: SampleRequest, signal: AbortSignal): Promise<unknown>;
}

/** Whose tokens a model call of an action uses: those of a turn, or of a person outside of one. */
export type Sampler =
  | { readonly turnId: string }
  | { readonly payer: Payer; readonly keepMs?: number | undefined };

/** A call to which somebody has agreed. */
export interface ConsentedCall extends Pick<
  ActionRequest,
  "name" | "input" | "requestId" | "toolCallId" | "consent"
> {
  readonly facts: CallFacts;
  /** The reply that shows what the action attaches. */
  readonly owner: string;
  /** The chat that sees how far it is. @default the chat of the facts */
  readonly shownIn?: Address | undefined;
  /** Whether it goes on with the answer to its question. @default false */
  readonly isAnswered?: boolean;
}

/** A call whose input a person has changed. */
export interface ChangedCall extends Pick<ActionRequest, "name" | "input" | "requestId" | "toolCallId"> {
  readonly facts: CallFacts;
}

/** A call of another system. */
export interface OutsideCall extends Pick<
  ActionRequest,
  "name" | "input" | "requestId" | "toolCallId" | "signal" | "consent"
> {
  /** Whether it goes on with the answer to its question. @default false */
  readonly isAnswered?: boolean;
  readonly facts: CallFacts;
  /** The agent that calls. */
  readonly caller: Pick<ActionCaller, "id" | "name">;
  /** Hears how far the run is. */
  readonly onProgress: (message: string) => void;
  /** Whether the caller can ask its person by itself. */
  readonly canAsk: boolean;
  /** The person whose tokens `ctx.sample` uses. */
  readonly payer: Payer;
  /** Who is asked about a call that no person makes. @default the bot's team */
  readonly owner?: OutsideAsker["owner"];
}
