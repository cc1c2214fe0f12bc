import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import type { BashTool } from "./bash-tool.ts";
import type { FileStat } from "./operations.ts";

/** Options of `workspace`. */
export interface WorkspaceOptions<Env = unknown> {
  /** Most bytes of all files of a conversation. @default 52428800 (50 MiB) */
  readonly maxBytes?: number;
  /** Most files of a conversation. @default 1000 */
  readonly maxFiles?: number;
  /** Largest file, in bytes, at most 52428800. @default 10485760 (10 MiB) */
  readonly maxFileBytes?: number;
  /**
   * Whether files that people send are kept, below `/sent`. A file is fetched before the model is asked about its
   * message.
   *
   * @default false
   */
  readonly keepSentFiles?: boolean;
  /**
   * Media types that `read` shows to the model itself, such as `["image/*"]`. Of other files that are no text it reads
   * the kind and the size. A model server that takes no such files needs `[]`.
   *
   * @default ["image/*", "application/pdf"]
   */
  readonly media?: readonly string[];
  /**
   * Tools that the model gets. The bot's own code can use all of `this.workspace` in any case.
   *
   * @default all
   */
  readonly tools?: readonly WorkspaceToolName[];
  /** A shell for the model: `bash()` of `switchboard/workspace/bash`. @default none */
  readonly bash?: BashTool;
  /** A bucket of R2 for large files. @default none: all bytes are in the conversation's own database */
  readonly largeFiles?: LargeFiles<Env>;
  /**
   * Whether a person may delete a file with /files.
   *
   * @default in a private chat everybody. In a group the person who sent the file, or whose request wrote it last
   */
  readonly mayDelete?: (person: MessengerAuthor, file: FileStat) => boolean | Promise<boolean>;
}

/** The methods of an `R2Bucket` that large files need. */
export interface FileBucket {
  put(key: string, bytes: Uint8Array): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string[]): Promise<unknown>;
}

/** Where large files are. */
export interface LargeFiles<Env = unknown> {
  /** Returns the bucket, from the environment of the bot's class. */
  readonly bucket: (env: Env) => FileBucket;
  /** Files of at least this many bytes are in the bucket. @default 1048576 (1 MiB) */
  readonly fromBytes?: number;
  /** Beginning of the names in the bucket. @default "workspace/" */
  readonly prefix?: string;
}

/** The tools of a workspace. `bash` is there only with the option `bash`. */
export type WorkspaceToolName =
  | "read"
  | "write"
  | "edit"
  | "list"
  | "find"
  | "grep"
  | "delete"
  | "send_file"
  | "bash";
