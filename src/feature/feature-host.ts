import type { ActionStates } from "../actions/memory/action-states.ts";
import type { Database } from "../core/store/database.ts";
import type { Deps } from "../core/base/deps.ts";
import type { Log } from "../core/base/log.ts";
import type { DeclaredMessengers } from "../messengers/declare/declared-messengers.ts";
import type { BotObjects } from "../messengers/root/bot-objects.ts";
import type { RootRuntime } from "../messengers/root/root-runtime.ts";
import type { ThreadRuntime } from "../messengers/thread/thread-runtime.ts";
import type { BotActions } from "../messengers/tools/bot-actions.ts";
import type { ChannelPolicies } from "../messengers/turns/channel-policies.ts";
import type { ActionConsent } from "../messengers/tools/action-consent.ts";
import type { ActionQuestions } from "../messengers/tools/action-questions.ts";
import type { AcceptedPrompt, PromptRequest } from "../messengers/turns/prompts.ts";
import type { ScheduledTurns } from "../scheduled-runs/scheduled-turns.ts";
import type { TurnOperations } from "../turn/tools/turn-operations.ts";
import type { RootBudget } from "../../delivery/index.ts";
import type { AlarmName, DurableAlarm } from "./durable-alarm.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import type { ManyChatsSender } from "../core/turn/broadcast.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";

/** The object of a bot, as its features use it. Its parts are created when they are used first. */
export interface FeatureHost<Methods> {
  /** The methods of the bot's class. */
  readonly agent: Methods;
  readonly env: object;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly messengers: DeclaredMessengers;
  name(): string;
  readonly objects: BotObjects;
  /** The directories of the bot. Only at the root. */
  readonly directories: RootRuntime;
  /** The rate of the whole bot. Only at the root. */
  readonly budget: RootBudget;
  readonly thread: ThreadRuntime;
  readonly engine: TurnOperations;
  /** The bot's tools and actions. */
  readonly actions: BotActions;
  /** What is kept for people and for the whole bot: at the root. */
  botStates(): ActionStates;
  readonly channels: ChannelPolicies;
  /** The turns of scheduled tasks in this conversation. */
  readonly runs: ScheduledTurns;
  readonly features: {
    /** @throws {ConfigurationError} `feature-missing` in a bot without broadcasts */
    readonly manyChats: ManyChatsSender;
    /** People's consent to actions. Undefined in a bot without approvals. */
    readonly consent: ActionConsent | undefined;
    /** Questions of actions to people. Undefined in a bot without questions. */
    readonly asking: ActionQuestions | undefined;
    /** Returns for whom and where the calls of a turn about an outcome run. Undefined for other turns. */
    factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
    /** The questions of all features, as those see them who follow the run of a schedule. */
    readonly runQuestions: RunQuestions;
    /** Whether a run of code goes on, or the turn that tells its end is still to come. */
    isCodeOpen(run: string): boolean;
    /** Whether a feature does work that only this process knows. */
    isBusy(): boolean;
    /** The time of the next stored work of all features, in epoch milliseconds. Undefined if there is none. */
    nextWakeAt(): number | undefined;
  };
  alarm(name: AlarmName): DurableAlarm;
  /** Resolves when the object can be used. */
  ready(): Promise<void>;
  /** Resolves when the wake-up for what was stored is durable. */
  durable(): Promise<void>;
  /** Resolves as `durable`, and makes the loop work on what was stored right away. */
  stored(): Promise<void>;
  /** Makes the loop run soon, even if the object dies before. */
  wakeSoon(): void;
  /** Runs work after the current event. */
  later(work: () => void): void;
  /** Stores a prompt, unless it is known. Resolves when it is durable. */
  submit(request: PromptRequest): Promise<AcceptedPrompt>;
}
