import type { FileKind, OutgoingFile } from "../../src/core/content.ts";
import type { Database } from "../../src/core/database.ts";
import type { Deps } from "../../src/core/deps.ts";
import { InvalidInputError } from "../../src/core/errors.ts";
import type { Address, CallFailure, OutgoingMedia, PostedMessage, Surface } from "../../src/core/surface.ts";
import { FileStore } from "./file-store.ts";
import { SentFileStore } from "./sent-file-store.ts";
import { storeFile } from "./store-file.ts";

/** Longest time to read a file from its source. */
const READ_MS = 60_000;
/** A file that was stored, and never sent because the process died in between. */
const KEEP_UNUSED_MS = 60 * 60 * 1000;

/** Files on their way out: their bytes, and the platform's ids of those that were sent before. */
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
    if (files === undefined)
      throw new InvalidInputError("files-unsupported", "The platform of this messenger takes no files.");
    const signal = AbortSignal.timeout(READ_MS);
    return storeFile(file, { store: this.#store, deps: this.#deps, capabilities: files, signal });
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

  /** The files as they are to be sent now: by the platform's id where it has them. */
  resolve({ messengerId }: Address, files: readonly OutgoingMedia[]): readonly OutgoingMedia[] {
    return files.map((file) => {
      const { kind, source } = file;
      const fileId =
        source.kind === "bytes" ? this.#sent.find({ messengerId, kind, hash: source.hash }) : undefined;
      return fileId === undefined ? file : { ...file, source: { kind: "platform", fileId } };
    });
  }

  /** Files were sent. */
  remember({ messengerId }: Address, files: readonly OutgoingMedia[], { fileIds = [] }: PostedMessage): void {
    for (const [index, { kind, source }] of files.entries()) {
      const fileId = fileIds[index];
      if (source.kind !== "bytes" || fileId === undefined) continue;
      this.#sent.remember({ messengerId, kind, hash: source.hash }, fileId, this.#deps.clock.now());
    }
  }

  /** The platform does not take an id any more. Returns whether any was known. */
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

/** The files in the form that a refusal leaves: photos as documents, voice as audio. `undefined` where there is none. */
export function inOtherForm(
  files: readonly OutgoingMedia[],
  failure: CallFailure,
): readonly OutgoingMedia[] | undefined {
  if (failure.kind !== "rejected") return undefined;
  if (failure.about === "photo" && files.some(({ kind }) => kind === "photo"))
    // Documents stand together with documents only.
    return files.map((file) => withKind(file, "document"));
  if (failure.about === "voice" && files.some(({ kind }) => kind === "voice"))
    return files.map((file) => withKind(file, "audio"));
  return undefined;
}

function withKind(file: OutgoingMedia, kind: FileKind): OutgoingMedia {
  return { ...file, kind };
}
