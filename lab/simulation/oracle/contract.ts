import type { UIMessage } from "ai";
import type { RichText } from "../../../src/core/rich-text.ts";
import type { Address } from "../../../src/core/surface.ts";
import type { InterruptedText } from "./interrupted-text.ts";
import type { Script } from "../plan/model-script.ts";

/*
 * The words in which the parts of the simulation speak to each other: what the model's engine stores, what leaves for
 * the platform, what was said, and what is broken. The oracle and its watchers know the simulated parts only by these.
 */

export type Invariant = "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I11" | "I12";

export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
}

/** One reply as its conversation spoke it. */
export interface SaidReply {
  readonly id: string;
  /** The name of the object that said it. */
  readonly conversation: string;
  /** Where it is to be seen. */
  readonly threadId: string;
  readonly chatId: string;
  readonly isNotice: boolean;
  readonly takesOver: string | undefined;
  /** Order of the first `open` or `send` in the whole run. */
  readonly order: number;
  /** What was said of the current attempt so far, or the whole text. */
  text: string;
  readonly interrupted: InterruptedText;
  isFinal: boolean;
  /** When the text was whole. */
  finalAt: number;
}

/** Of the text under a reply that was stopped. */
export const STOPPED = "(stopped)";

/** One operation as the turn engine stores it: what of it survives the process. */
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
  /** What was said in the steps that are over. */
  said: readonly string[];
  /** The tool after the last of them. */
  tool: "none" | "waits" | "began";
  /** The text of the running step that is stored, which lags behind what was streamed. */
  text: string;
}

export type OperationStore = Map<string, StoredOperation>;

export type SurfaceMethod =
  | "post"
  | "edit"
  | "remove"
  | "typing"
  | "answer"
  | "probe"
  | "draft"
  | "begin"
  | "append"
  | "end";

/** One call to the platform, from its leaving the process on. */
export interface SurfaceCall {
  readonly number: number;
  readonly method: SurfaceMethod;
  readonly address: Address;
  readonly content?: RichText;
  readonly messageId?: string;
  readonly draftId?: number;
  /** The message that a post quotes. */
  readonly replyTo?: string | undefined;
  readonly at: number;
}
