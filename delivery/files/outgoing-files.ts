import { withTimeLimit } from "../../src/core/time/with-time-limit.ts";
import type { FileKind, OutgoingFile, StoredFile } from "../../src/core/message/content.ts";
import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type { BotFileIds, SentFile } from "./sent-file.ts";
import type { ByteSource } from "../../src/core/message/reply-attachment.ts";
import { withinTime } from "../../src/core/time/within-time.ts";
import type {
  Address,
  CallFailure,
  OutgoingImage,
  OutgoingMedia,
  PostedMessage,
  Surface,
} from "../../src/core/chat/surface.ts";
import { FileStore } from "./file-store.ts";
import { SentFileStore } from "./sent-file-store.ts";
import { linkedFile, storeBytes, storeFile } from "./store-file.ts";

/** Longest time to read a file from its source. */
const READ_MS = 60_000;
/** Time to keep a stored file that was not sent because the process died, in milliseconds. */
const KEEP_UNUSED_MS = 60 * 60 * 1000;

/** The bot's other objects are asked about a file of at least this size, in bytes. A smaller upload is as quick. */
const SHARED_FROM_BYTES = 64 * 1024;
const SHARED_TIMEOUT_MS = 2_000;

export interface OutgoingFilesOptions {
  readonly database: Database;
  readonly deps: Deps;
  /** The ids that the whole bot knows. @default those of this object only */
  readonly fileIds?: BotFileIds | undefined;
}

/**
 * Outgoing files: their bytes, and the platform's ids of files that were sent before, by this object or by any other of
 * the bot. An id only saves an upload: without one, or if the platform refuses it, the bytes are sent.
 */
export class OutgoingFiles {
  readonly #deps: Deps;
  readonly #store: FileStore;
  readonly #sent: SentFileStore;
  readonly #shared: BotFileIds | undefined;

  constructor({ database, deps, fileIds }: OutgoingFilesOptions) {
    this.#deps = deps;
    this.#shared = fileIds;
    this.#store = new FileStore(database);
    this.#sent = new SentFileStore(database);
  }

  /** Makes a file durable that a messenger will send. */
  async add(messengerId: string, file: OutgoingFile, { capabilities }: Surface): Promise<OutgoingMedia> {
    const { files } = capabilities;
    if (files === undefined) return linkedFile(file);
    const media = await withTimeLimit(this.#deps.clock, READ_MS, (signal) =>
      storeFile(file, { store: this.#store, deps: this.#deps, capabilities: files, signal }),
    );
    if (files.references !== false) await this.#learnId(messengerId, media);
    return media;
  }

  /** Asks whether another object of the bot has sent a file, before it is uploaded again. */
  async #learnId(messengerId: string, media: OutgoingMedia): Promise<void> {
    const sent = this.#sharedFile(messengerId, media);
    if (sent === undefined || this.#shared === undefined || this.#sent.find(sent) !== undefined) return;
    try {
      const asked = this.#shared.findSentFile(sent);
      const fileId = await withinTime(this.#deps.clock, SHARED_TIMEOUT_MS, asked, "findSentFile");
      if (fileId !== undefined) this.#sent.remember(sent, fileId, this.#deps.clock.now());
    } catch {
      // The other object cannot be reached. The file is uploaded.
    }
  }

  /** Returns the key of a file that all objects of the bot share. Undefined for a small one. */
  #sharedFile(messengerId: string, { kind, source }: OutgoingMedia): SentFile | undefined {
    return source.kind === "bytes" && source.sizeBytes >= SHARED_FROM_BYTES
      ? { messengerId, kind, hash: source.hash }
      : undefined;
  }

  /** Makes bytes durable whose platform is not known yet. */
  async addBytes(source: ByteSource): Promise<StoredFile> {
    return withTimeLimit(this.#deps.clock, READ_MS, (signal) =>
      storeBytes(source, { store: this.#store, deps: this.#deps, signal }),
    );
  }

  hold(replyId: string, hashes: readonly string[]): void {
    this.#store.hold(replyId, hashes);
  }

  release(replyId: string): void {
    this.#store.release(replyId);
  }

  sweep(): void {
    this.#store.sweep(this.#deps.clock.now() - KEEP_UNUSED_MS);
  }

  open(hash: string): ReadableStream<Uint8Array> {
    return this.#store.open(hash);
  }

  /** Returns the files as they are sent now: by the platform's id if it has one. */
  resolve({ messengerId }: Address, files: readonly OutgoingMedia[]): readonly OutgoingMedia[] {
    return files.map((file) => {
      const { kind, source } = file;
      const fileId =
        source.kind === "bytes" ? this.#sent.find({ messengerId, kind, hash: source.hash }) : undefined;
      return fileId === undefined ? file : { ...file, source: { kind: "platform", fileId } };
    });
  }

  /** Returns a picture as it is sent now. */
  resolveImage(address: Address, image: OutgoingImage): OutgoingImage {
    if (!("source" in image)) return image;
    const [resolved = image] = this.resolve(address, [image]);
    const { source } = resolved;
    return source.kind === "platform" ? { fileId: source.fileId } : resolved;
  }

  /** Stores the platform's ids of sent files. */
  remember({ messengerId }: Address, files: readonly OutgoingMedia[], { fileIds = [] }: PostedMessage): void {
    for (const [index, file] of files.entries()) {
      const { kind, source } = file;
      const fileId = fileIds[index];
      if (source.kind !== "bytes" || fileId === undefined) continue;
      const sent = { messengerId, kind, hash: source.hash };
      const isNew = this.#sent.find(sent) !== fileId;
      this.#sent.remember(sent, fileId, this.#deps.clock.now());
      if (isNew) this.#tell(messengerId, file, (known, shared) => shared.noteSentFile(known, fileId));
    }
  }

  /** Forgets ids that the platform no longer accepts. Returns whether any was known. */
  forget({ messengerId }: Address, files: readonly OutgoingMedia[]): boolean {
    let wasKnown = false;
    for (const file of files) {
      const { kind, source } = file;
      if (source.kind !== "bytes") continue;
      const sent = { messengerId, kind, hash: source.hash };
      const fileId = this.#sent.find(sent);
      if (fileId === undefined) continue;
      wasKnown = true;
      this.#sent.forget(sent, fileId);
      this.#tell(messengerId, file, (known, shared) => shared.forgetSentFile(known, fileId));
    }
    return wasKnown;
  }

  /** Tells the bot's other objects about an id, without waiting. A lost call costs an upload at most. */
  #tell(
    messengerId: string,
    file: OutgoingMedia,
    call: (file: SentFile, shared: BotFileIds) => Promise<void>,
  ): void {
    const known = this.#sharedFile(messengerId, file);
    if (known === undefined || this.#shared === undefined) return;
    call(known, this.#shared).catch(() => undefined);
  }
}

/** Returns refused files in another form: photos as documents, voice as audio. Undefined if no other form exists. */
export function inOtherForm(
  files: readonly OutgoingMedia[],
  failure: CallFailure,
): readonly OutgoingMedia[] | undefined {
  if (failure.kind !== "rejected") return undefined;
  if (failure.about === "photo" && files.some(({ kind }) => kind === "photo"))
    // An album of documents has documents only.
    return files.map((file) => withKind(file, "document"));
  if (failure.about === "voice" && files.some(({ kind }) => kind === "voice"))
    return files.map((file) => withKind(file, "audio"));
  return undefined;
}

function withKind(file: OutgoingMedia, kind: FileKind): OutgoingMedia {
  return { ...file, kind };
}
