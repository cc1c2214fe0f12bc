import type { FileKind } from "../../src/core/message/content.ts";

/** A file that a messenger has sent: its kind, and the SHA-256 of its bytes. */
export interface SentFile {
  readonly messengerId: string;
  readonly kind: FileKind;
  readonly hash: string;
}

/** The platform's ids of files that any object of the bot has sent. */
export interface BotFileIds {
  findSentFile(file: SentFile): Promise<string | undefined>;
  noteSentFile(file: SentFile, fileId: string): Promise<void>;
  /** Forgets an id that the platform no longer accepts. */
  forgetSentFile(file: SentFile, fileId: string): Promise<void>;
}
