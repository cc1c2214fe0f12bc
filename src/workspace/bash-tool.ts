import type { Clock } from "../core/base/deps.ts";

/** A file that a shell can read. */
export interface ShellFile {
  readonly path: string;
  readonly sizeBytes: number;
  read(): Promise<Uint8Array>;
}

export interface ShellRun {
  readonly script: string;
  readonly files: readonly ShellFile[];
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

export interface ShellResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The whole content of changed files. Undefined: the file is deleted. */
  readonly changes: readonly { readonly path: string; readonly content: Uint8Array | undefined }[];
}

/** A shell for the model: the result of `bash()` of `switchboard/workspace/bash`. */
export interface BashTool {
  /** Time limit of a script, in milliseconds. */
  readonly timeoutMs: number;
  /** @internal */
  run(run: ShellRun): Promise<ShellResult>;
}
