import { ENGLISH_TEXTS } from "../../../src/core/text/english-texts.ts";
import type { UIMessage } from "ai";
import type { Address, LostPost } from "../../../src/core/chat/surface.ts";
import type { InterruptedText } from "./interrupted-text.ts";
import type { Script } from "../plan/model-script.ts";
import type { ShownContent } from "../platform/platform.ts";
import type { Size } from "../plan/plan.ts";

/*
 * The contract between the parts of the simulation: stored operations of the model's engine, calls to the platform,
 * said replies, and breaches. The oracle and its watchers know the simulated parts only by these types.
 */

export type Invariant = "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I9" | "I11" | "I12" | "I14";

export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
}

/** One reply as its conversation said it. */
export interface SaidReply {
  readonly id: string;
  /** The name of the object that said it. */
  readonly conversation: string;
  /** Thread that shows it. */
  readonly threadId: string;
  readonly chatId: string;
  readonly isNotice: boolean;
  readonly takesOver: string | undefined;
  /** Order of the first `open` or `send` in the whole run. */
  readonly order: number;
  /** Text of the current attempt so far, or the whole text. */
  text: string;
  readonly interrupted: InterruptedText;
  isFinal: boolean;
  /** Time at which the text was complete. */
  finalAt: number;
}

/** Mark of a stopped reply. */
export const STOPPED = "(stopped)";

/** One call of an action by the model. */
export interface ActionCall {
  /** Name of the message that is answered. */
  readonly token: string;
  /** Name of the action. */
  readonly action: string;
  /** Name of its effect, unique in the run. */
  readonly effect: string;
  readonly size?: Size | undefined;
  /** The code that it runs, if it is no action. */
  readonly code?: string | undefined;
}

const { errorResponseText, interruptedResponseText } = ENGLISH_TEXTS;

/** Whether a reply ended before its operation: somebody stopped it, or its chat was gone. */
export function isCut(text: string): boolean {
  return [STOPPED, interruptedResponseText, errorResponseText].some((mark) => text.includes(mark));
}

/** A run of code, as its object stores it. */
export interface StoredCodeRun {
  readonly id: string;
  readonly code: string;
  readonly state: string;
  readonly isResumed: number;
  /** JSON. */
  readonly result: string | null;
  readonly endedAt: number | null;
}

/** A run of another agent, as the object that has begun it stores it. */
export interface StoredAgentRun {
  readonly id: string;
  readonly requestId: string;
  readonly state: string;
  /** JSON. */
  readonly end: string | null;
  readonly isTold: number;
}

/** Tokens of each finished turn of an agent that works for others. */
export const CHILD_TOKENS = { input: 10, output: 1 };

/** A turn of an agent that works for others, when the run is over. */
export interface EndedChildTurn {
  readonly id: string;
  /** The number of the turn whose call has given the task. */
  readonly task: number;
  readonly isDone: boolean;
  /** Whether its object has never died. */
  readonly isUncut: boolean;
}

/** Tokens of a turn, as the root counts them. */
export interface CountedTurn {
  readonly turnId: string;
  readonly userId: string;
  readonly tokens: number;
}

/** One operation as the turn engine stores it. It survives the process. */
export interface StoredOperation {
  readonly id: string;
  readonly session: string;
  /** The thread that it answers. */
  readonly threadId: string;
  readonly script: Script;
  readonly questions: readonly string[];
  readonly question: UIMessage;
  status: "running" | "done" | "failed" | "aborted";
  attempt: number;
  /** Attempts that the model itself spoiled. */
  failures: number;
  /** Texts of the finished steps. */
  said: readonly string[];
  /** The tool after the last of them. */
  tool: "none" | "waits" | "began";
  /** Stored text of the running step. It lags behind the streamed text. */
  text: string;
  /** The call of its action, if it calls one. */
  readonly call: ActionCall | undefined;
  /** Whether it has ended because its call waits for people. */
  isParked: boolean;
  /** Whether somebody has ended it. */
  wasStopped?: boolean;
}

export type OperationStore = Map<string, StoredOperation>;

export type SurfaceMethod =
  | "post"
  | "edit"
  | "remove"
  | "typing"
  | "answer"
  | "probe"
  | "find"
  | "draft"
  | "begin"
  | "append"
  | "end";

/** One call to the platform that has left the process. */
export interface SurfaceCall {
  readonly number: number;
  readonly method: SurfaceMethod;
  readonly address: Address;
  readonly content?: ShownContent | undefined;
  readonly messageId?: string | undefined;
  readonly draftId?: number;
  /** The buttons that a probe takes with it. */
  readonly keyboard?: ShownContent["buttons"];
  /** The answer to the person who pressed a button. */
  readonly notice?: string | undefined;
  /** The key of a post. */
  readonly key?: string;
  /** The question of a search. */
  readonly lost?: LostPost;
  /** Whether an earlier post had the same key. */
  readonly isRepeated?: boolean;
  /** The message that a post quotes. */
  readonly replyTo?: string | undefined;
  readonly at: number;
}
