import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type {
  CountedTurn,
  EndedChildTurn,
  OperationStore,
  StoredAgentRun,
  StoredCodeRun,
} from "./contract.ts";
import type { ScheduleEnd } from "./schedule-watch.ts";
import type { Oracle } from "./oracle.ts";
import type { Plan } from "../plan/plan.ts";
import type { Platform, PlatformMessage } from "../platform/platform.ts";

/** A message that somebody wrote to the bot, as the bot should see it. */
export interface Written {
  readonly token: string;
  readonly threadId: string;
  readonly kind: "message" | "command";
  /** Name of the command. */
  readonly name?: string | undefined;
}

export interface EndState {
  readonly oracle: Oracle;
  readonly plan: Pick<Plan, "platform" | "search" | "policy" | "whenBusy">;
  readonly platform: Platform;
  readonly written: readonly Written[];
  /** The turns of agents that work for others, and the tokens of all turns. */
  readonly childTurns: readonly EndedChildTurn[];
  readonly counted: readonly CountedTurn[];
  /** Undefined if the plan has no scheduled tasks. */
  readonly schedules?: ScheduleEnd;
  readonly threads: readonly {
    readonly threadId: string;
    /** Name of its object, and all threads that the object handles. */
    readonly conversation: string;
    readonly siblings: readonly string[];
    readonly delivery: Delivery;
    /** Operations of the whole conversation. */
    readonly operations: OperationStore;
    readonly hasActed: (turnId: string) => boolean;
    readonly codeRuns: () => readonly StoredCodeRun[];
    readonly agentRuns: () => readonly StoredAgentRun[];
    /** Everything that the conversation has stored, by table. */
    readonly tables: () => ReadonlyMap<string, string>;
    /** The outcome of a person's message, if it is over. */
    readonly outcomeOf: (token: string) => string | undefined;
    /** Whether a person blocked the bot at some time. Replies from then may be lost. */
    readonly wasBlocked: boolean;
    /** Whether the person has written there after they had blocked the bot. */
    readonly isBack: boolean;
    /** Whether formatting was refused at some time. */
    readonly lostFormatting: boolean;
  }[];
}

/** Results of a run, for the statistics of many runs. */
export interface EndFigures {
  replies: number;
  parts: number;
  delivered: number;
  marked: number;
  /** Drafts of posts without an answer that stay visible beside their marked twin. */
  leftovers: number;
  /** Replies that policy gave up: twice in doubt, or refused content. */
  failed: number;
  gone: number;
}

export type Thread = EndState["threads"][number];

/** Returns the bot's message that a person sees under an id. */
export function findMessage(
  platform: Platform,
  threadId: string,
  messageId: string,
): PlatformMessage | undefined {
  return platform.visible(threadId).find((message) => String(message.id) === messageId);
}

export function describeMessage({ id, text }: PlatformMessage): string {
  return `${id} ${JSON.stringify(text.slice(0, 40))}`;
}
