import type { Json } from "../core/message/content.ts";
import type { CodeCall, CodeRun } from "./code-store.ts";

/** A call that waits for a person. */
export interface PendingAction {
  readonly executionId: string;
  readonly seq: number;
  readonly connector: string;
  readonly method: string;
  readonly args: unknown;
}

/** The outcome of a run of code, as the model and the bot's own code get it. It is never thrown. */
export type ProxyToolOutput =
  | {
      readonly status: "completed";
      readonly executionId: string;
      readonly result: unknown;
      readonly logs?: string[];
    }
  | { readonly status: "paused"; readonly executionId: string; readonly pending: PendingAction[] }
  | {
      readonly status: "error";
      readonly executionId: string;
      readonly error: string;
      readonly logs?: string[];
    };

/** One call of a run, as `executions` lists it. */
export interface ToolLogEntry {
  readonly seq: number;
  readonly connector: string;
  readonly method: string;
  readonly args: unknown;
  readonly state: CodeCall["state"];
  /** The result, or the words of the failure. */
  readonly result?: unknown;
}

/** A run of code with its log, as `executions` lists it. */
export interface ExecutionState {
  readonly id: string;
  readonly code: string;
  readonly status: CodeRun["state"];
  readonly log: ToolLogEntry[];
  readonly result?: unknown;
  readonly error?: string;
  readonly logs?: string[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly endedAt?: number;
}

/** What became of one call of a run that was rolled back. */
export interface RolledBack {
  readonly seq: number;
  readonly connector: string;
  readonly method: string;
  /** `kept`: the tool cannot be undone. `failed`: `message` says why. */
  readonly outcome: "reverted" | "kept" | "failed";
  readonly message?: string;
}

/** Returns the outcome of a run in its present state. */
export function outputOf(run: CodeRun, calls: readonly CodeCall[]): ProxyToolOutput {
  const { error, id: executionId, logs, result, state } = run;
  const written = logs === undefined ? {} : { logs: logs as string[] };
  switch (state) {
    case "running":
    case "paused":
      return { status: "paused", executionId, pending: pendingOf(run, calls) };
    case "completed":
    case "rolled_back":
      return { status: "completed", executionId, result: result ?? null, ...written };
    case "error":
      return { status: "error", executionId, error: error ?? "The code failed.", ...written };
    case "rejected":
      return { status: "error", executionId, error: error ?? "A person has said no." };
    default:
      return state satisfies never;
  }
}

export function pendingOf({ id: executionId }: CodeRun, calls: readonly CodeCall[]): PendingAction[] {
  return calls
    .filter(({ state }) => state === "pending")
    .map(({ args, connector, method, position }) => ({
      executionId,
      seq: position,
      connector,
      method,
      args,
    }));
}

export function executionOf(run: CodeRun, calls: readonly CodeCall[]): ExecutionState {
  const { code, createdAt, endedAt, error, id, logs, result, state } = run;
  return {
    id,
    code,
    status: state,
    log: calls.map((call) => ({
      seq: call.position,
      connector: call.connector,
      method: call.method,
      args: call.args,
      state: call.state,
      ...(call.result !== undefined && { result: call.result }),
    })),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    ...(logs !== undefined && { logs: logs as string[] }),
    createdAt,
    ...(endedAt !== undefined && { endedAt }),
  };
}

/** A divergence of the replay, in words. Without a call, the code has ended. */
export function divergence(
  known: CodeCall,
  now: { connector: string; method: string; args: Json } | undefined,
): string {
  const named = ({ args, connector, method }: Pick<CodeCall, "args" | "connector" | "method">): string =>
    `${connector}.${method}(${shortened(JSON.stringify(args))})`;
  const did = now === undefined ? "ended before" : `called ${named(now)} as`;
  return `The replay of this code ${did} call ${known.position}, and its earlier run called ${named(known)} there. The code must come to the same calls in the same order. Nothing more was done.`;
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
