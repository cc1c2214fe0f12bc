/** Functions that code can call, as `name.key(...)`. */
export interface SandboxProvider {
  readonly name: string;
  readonly fns: Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
  /** JavaScript that runs inside before the code, for instance `codemode.step = ...`. */
  readonly prelude?: string | undefined;
}

/** An object whose methods code can call, as `name.method(argument)`. */
export interface SandboxConnector {
  readonly name: string;
  readonly binding: { callTool(method: string, args: unknown): Promise<unknown> };
}

export interface ExecuteOptions {
  readonly connectors?: SandboxConnector[];
  /** Drops the run when it aborts. Only `createQuickJSExecutor` knows it. */
  readonly signal?: AbortSignal | undefined;
}

/** A limit that a run has reached. */
export type SandboxLimit = "ticks" | "timeoutMs" | "memoryBytes" | "stackBytes" | "calls" | "outputBytes";

export interface ExecuteResult {
  readonly result: unknown;
  /** A sentence for the model. */
  readonly error?: string;
  /** The lines that the code has written with `console`. */
  readonly logs?: string[];
  /** Set if a limit has ended the run. Only `createQuickJSExecutor` sets it. */
  readonly limit?: SandboxLimit;
}

/**
 * Runs JavaScript that a model or a stranger has written. It is the contract of `Executor` in `@cloudflare/codemode`.
 * Values pass as JSON, and bytes as `Uint8Array`. It never throws: `error` has the reason of a failure.
 */
export interface Executor {
  execute(
    code: string,
    providers: SandboxProvider[] | Record<string, (...args: unknown[]) => Promise<unknown>>,
    options?: ExecuteOptions,
  ): Promise<ExecuteResult>;
}
