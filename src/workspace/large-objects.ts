import type { Clock } from "../core/base/deps.ts";
import { failureCode, SwitchboardError } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import type { FileBucket } from "./workspace-options.ts";
import { OBJECT_REST_MS } from "./workspace-store.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

export interface LargeObjectsOptions {
  readonly bucket: () => FileBucket;
  readonly fromBytes: number;
  readonly prefix: string;
  /** The name of the conversation. */
  readonly owner: () => string;
  readonly store: WorkspaceStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes the loop run soon. */
  readonly wakeSoon: () => void;
}

/**
 * The bytes of large files, in a bucket of R2, by conversation and hash.
 *
 * An object is noted before it is put there, and deleted some minutes after the last file with its bytes: also after a
 * crash, and never while a write may be on its way.
 */
export class LargeObjects {
  readonly #options: LargeObjectsOptions;
  #deleting: Promise<void> | undefined;

  constructor(options: LargeObjectsOptions) {
    this.#options = options;
  }

  takes(sizeBytes: number): boolean {
    return sizeBytes >= this.#options.fromBytes;
  }

  async put(hash: string, bytes: Uint8Array): Promise<void> {
    const { bucket, clock, store, wakeSoon } = this.#options;
    // The same bytes may be about to be deleted.
    await this.#deleting;
    store.expectObject(hash, clock.now());
    wakeSoon();
    await inBucket(bucket().put(this.#keyOf(hash), bytes));
  }

  /** Undefined if there is no such object. */
  async get(hash: string): Promise<Uint8Array | undefined> {
    const found = await inBucket(this.#options.bucket().get(this.#keyOf(hash)));
    return found === null ? undefined : new Uint8Array(await inBucket(found.arrayBuffer()));
  }

  /** Some object may have become unused. */
  poke(): void {
    if (this.wakeAt() !== undefined) this.#options.wakeSoon();
  }

  /** The time at which an unused object can be deleted. */
  wakeAt(): number | undefined {
    const since = this.#options.store.unusedSince();
    return since === undefined || this.#deleting !== undefined ? undefined : since + OBJECT_REST_MS;
  }

  /** Deletes objects that no file needs. */
  async work(): Promise<void> {
    if (this.#deleting !== undefined) return;
    const { clock, store } = this.#options;
    const hashes = store.unusedObjects(clock.now() - OBJECT_REST_MS);
    if (hashes.length === 0) return;
    this.#deleting = this.#delete(hashes);
    await this.#deleting;
    this.#deleting = undefined;
  }

  async #delete(hashes: readonly string[]): Promise<void> {
    const { bucket, clock, log, store } = this.#options;
    try {
      await bucket().delete(hashes.map((hash) => this.#keyOf(hash)));
      for (const hash of hashes) store.forgetObject(hash);
    } catch (error) {
      // A later time deletes them.
      log.warn("workspace.bucket-failed", { code: failureCode(error) });
      for (const hash of hashes) store.markObject(hash, clock.now());
    }
  }

  /** No key names a person or a chat. */
  #keyOf(hash: string): string {
    const { owner, prefix } = this.#options;
    return `${prefix}${sha256Now(owner())}/${hash}`;
  }
}

async function inBucket<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw new SwitchboardError(
      "workspace-bucket",
      "The bucket of the large files did not answer. Try it again.",
      {
        cause: error,
      },
    );
  }
}
