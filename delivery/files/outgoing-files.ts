import { withTimeLimit } from "../../src/core/with-time-limit.ts";
import type { FileKind, OutgoingFile, StoredFile } from "../../src/core/content.ts";
import type { Database } from "../../src/core/database.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { ByteSource } from "../../src/core/reply-attachment.ts";
import type { Address, CallFailure, OutgoingMedia, PostedMessage, Surface } from "../../src/core/surface.ts";
import { FileStore } from "./file-store.ts";
import { SentFileStore } from "./sent-file-store.ts";
import { linkedFile, storeBytes, storeFile } from "./store-file.ts";

/** Longest time to read a file from its source. */
const READ_MS = 60_000;
/** Time to keep a stored file that was not sent because the process died, in milliseconds. */
const KEEP_UNUSED_MS = 60 * 60 * 1000;

/** Outgoing files: their bytes, and the platform's ids of files that were sent before. */
export class OutgoingFiles {
  readonly #deps: Deps;
  readonly #store: FileStore;
  readonly #sent: SentFileStore;

  constructor({ database, deps }: { readonly database: Database; readonly deps: Deps }) {
    this.#deps = deps;
    this.#store = new FileStore(database);
    this.#sent = new SentFileStore(database);
  }

  /** Makes a file durable. */
  async add(file: OutgoingFile, { capabilities }: Surface): Promise<OutgoingMedia> {
    const { files } = capabilities;
    if (files === undefined) return linkedFile(file);
    return withTimeLimit(this.#deps.clock, READ_MS, (signal) =>
      storeFile(file, { store: this.#store, deps: this.#deps, capabilities: files, signal }),
    );
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

  /** Stores the platform's ids of sent files. */
  remember({ messengerId }: Address, files: readonly OutgoingMedia[], { fileIds = [] }: PostedMessage): void {
    for (const [index, { kind, source }] of files.entries()) {
      const fileId = fileIds[index];
      if (source.kind !== "bytes" || fileId === undefined) continue;
      this.#sent.remember({ messengerId, kind, hash: source.hash }, fileId, this.#deps.clock.now());
    }
  }

  /** Forgets ids that the platform no longer accepts. Returns whether any was known. */
  forget({ messengerId }: Address, files: readonly OutgoingMedia[]): boolean {
    let wasKnown = false;
    for (const { kind, source } of files) {
      if (source.kind !== "bytes") continue;
      const sent = { messengerId, kind, hash: source.hash };
      wasKnown ||= this.#sent.find(sent) !== undefined;
      this.#sent.forget(sent);
    }
    return wasKnown;
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
