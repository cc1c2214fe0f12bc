import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { Json } from "../core/message/content.ts";
import type { RunKeepers } from "../scheduled-runs/nudge-keeper.ts";
import type { ScheduledRun } from "../core/turn/scheduled-run.ts";
import type { SystemCaller } from "../messengers/tools/action-consent.ts";

/** A run, for the object of its agent. */
export interface RunRequest {
  /** Id of the run, and of its first turn. */
  readonly id: string;
  readonly prompt: string;
  readonly run: ScheduledRun;
}

/** A question of a run to people, for the conversation that asks them. */
export interface RunAsks {
  readonly kind: "asks";
  readonly of: { readonly approvalId: string } | { readonly parkedId: string; readonly questionId: string };
  /** Markdown. */
  readonly message: string;
  /** JSON Schema of the answer. Undefined: it asks for consent. */
  readonly schema?: Json | undefined;
}

/** The end of a run. */
export interface RunEnded {
  readonly kind: "ended";
  readonly status: "completed" | "error" | "aborted" | "interrupted";
  /** The last words of the agent. */
  readonly text?: string | undefined;
  /** What `getAgentToolOutput()` of the agent has returned. */
  readonly output?: Json | undefined;
  /** Reason of another status than `completed`, for the model. */
  readonly error?: string | undefined;
}

/** A run that waits for people whom its agent has asked by itself. */
export interface RunWaits {
  readonly kind: "waits";
}

export type RunState = { readonly kind: "open" } | RunAsks | RunWaits | RunEnded;

/** The answer of a person. */
export type RunAnswer =
  | { readonly decision: "approve" | "reject" }
  /** `undefined`: there is none. */
  | { readonly content: Json | undefined };

/** The calls about runs: to the object of the agent, and back to the keeper of the run. Each can be repeated. */
export interface AgentToolCalls extends RunKeepers {
  /** Stores a run, unless it is known. Resolves when it is durable. */
  begin(request: RunRequest): Promise<void>;
  look(id: string): Promise<RunState>;
  /** Takes an answer. Ignored if the question has ended. */
  answer(of: RunAsks["of"], answer: RunAnswer, by: SystemCaller): Promise<void>;
  /** Ends a run, with everything that it has begun. Resolves when that is durable. */
  end(id: string): Promise<void>;
  /** Deletes everything that the object of a run keeps. */
  clear(id: string): Promise<void>;
  /** To the keeper: shows how far a run is. */
  showProgress(id: string, line: string): Promise<void>;
}

export const AGENT_TOOLS: CallGroup<AgentToolCalls> = { name: "agent-tools" };
