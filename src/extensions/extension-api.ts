/** Everything that the code of an extension reaches. It is `null` for an extension without permissions. */
export interface ExtensionApi {
  /** Returns a text file of the conversation, of at most 1 MiB. `null` if there is none. */
  readFile(path: string): Promise<string | null>;
  /** Writes a whole text file. All changes of one run: at most 20, with 150000 characters together. */
  writeFile(path: string, content: string): Promise<void>;
  /** Returns `false` if there is no such file. */
  deleteFile(path: string): Promise<boolean>;
  /** Returns at most 1000 files. @default "/" */
  listFiles(folder?: string): Promise<readonly ExtensionFile[]>;
  /** Returns a block of the manifest's `context`. Empty if nothing was written. */
  getContext(label: string): Promise<string>;
  setContext(label: string, text: string): Promise<void>;
  /** Only for tools. The body of the answer is a text of at most 512 KiB. */
  fetch(
    url: string,
    request?: {
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    },
  ): Promise<ExtensionResponse>;
}

export interface ExtensionFile {
  readonly path: string;
  readonly name: string;
  readonly type: "file";
  /** In bytes. */
  readonly size: number;
}

/** The answer to a call over the network. */
export interface ExtensionResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The snapshot of `beforeTurn`. Long texts of all snapshots are cut at 50000 characters. */
export interface TurnSnapshot {
  /** The prompt, with the changes of hooks before. */
  readonly system: string;
  readonly toolNames: readonly string[];
  readonly messageCount: number;
  /** Whether the turn goes on after a restart, or by `continueLastTurn()`. */
  readonly continuation: boolean;
  readonly modelId: string;
  /** The id of the turn. */
  readonly requestId: string | null;
}

/**
 * The changes that `beforeTurn` of an extension may make. They give a turn other words, and never more than it has. A
 * result with anything else counts as none.
 */
export interface TurnChange {
  /** The whole prompt. @default as it is */
  readonly system?: string;
  /** The names of the tools that stay. @default all */
  readonly activeTools?: readonly string[];
  /** `none`: the model calls no tool. @default as it is */
  readonly toolChoice?: "auto" | "none";
  /** Most model calls of the turn. It only becomes less. @default as it is */
  readonly maxSteps?: number;
  /** `false`: people and other systems get no reasoning. @default as it is */
  readonly sendReasoning?: false;
}

/** The snapshot of `beforeToolCall`. */
export interface ToolCallSnapshot {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
  /** Counts from 0. */
  readonly stepNumber: number;
}

/** The snapshot of `afterToolCall`. */
export interface ToolResultSnapshot extends ToolCallSnapshot {
  readonly durationMs: number;
  readonly success: boolean;
  /** Only after success. A call that asks people ends with `waiting`, and its run after their consent has no hook. */
  readonly output?: unknown;
  /** Only after a failure. It has no words of an exception. */
  readonly error?: unknown;
}

/** The snapshot of `onStepFinish`. */
export interface StepSnapshot {
  /** Counts from 0. */
  readonly stepNumber: number;
  readonly finishReason: string;
  readonly text: string;
  readonly reasoningText: string | null;
  readonly toolCallCount: number;
  readonly toolResultCount: number;
  /** Tokens, as the model's server counts them. */
  readonly usage: unknown;
}

/** The snapshot of `onChunk`. */
export interface ChunkSnapshot {
  /** Such as `text-delta` and `tool-call`. */
  readonly type: string;
  /** Pieces of one text that wait are one. */
  readonly text?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
}
