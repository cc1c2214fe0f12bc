import { z } from "zod";
import type { Database } from "../../core/store/database.ts";
import type { HeldFiles } from "../../core/chat/delivery.ts";
import type { Clock } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { StoredAttachment } from "../../core/message/reply-attachment.ts";
import { AttachmentStore } from "./attachment-store.ts";
import type { AttachmentRun } from "./attachment-store.ts";
import { CollectedAttachments, MOST_ATTACHMENTS } from "./collected-attachments.ts";
import type { AttachmentDraft, Collected } from "./collected-attachments.ts";
import { unsentAttachment } from "./unsent-attachment.ts";
import type { UnsentAttachment } from "./unsent-attachment.ts";
import { Sweep } from "../../core/store/sweep-store.ts";

export interface AttachmentsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly files: Pick<HeldFiles, "addBytes" | "hold" | "release">;
  /** Logs an attachment that is left out. Must not throw. */
  readonly onRefused: (error: unknown) => void;
}

/** The attachments of one call of an action. */
export interface CallAttachments {
  /** Begins to collect what `execute` attaches. */
  collect(): CollectedAttachments;
  /**
   * Stores what a run has attached, with its bytes. It counts after `record`. Returns the attachments that will not be
   * sent. Never throws.
   */
  keep(
    run: { readonly runId: string; readonly ledgerKey: string },
    collected: Collected,
  ): Promise<readonly UnsentAttachment[]>;
  /** Makes what was kept under a key count. Called in the transaction that settles the run. Does nothing twice. */
  record(ledgerKey: string): void;
}

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
const MOST_SWEPT = 500;

const attachmentSchema = z.looseObject({ type: z.string() });

/**
 * Attachments that actions add to replies.
 *
 * 1. An attachment counts when the ledger has settled its run, in the same transaction. If the ledger is in another
 *    object, it counts when the result is known here, also if that is after a crash.
 * 2. A run that fails, stops or takes too long attaches nothing. A replayed result attaches nothing new.
 * 3. If an effect runs again for the same reply, only the attachments of the later run count.
 * 4. Bytes are stored before their attachment, and kept until the reply is in the outbox.
 */
export class Attachments {
  readonly #options: AttachmentsOptions;
  readonly #store: AttachmentStore;
  readonly #sweep: Sweep;

  constructor(options: AttachmentsOptions) {
    this.#options = options;
    this.#store = new AttachmentStore(options.database);
    this.#sweep = new Sweep(options.database, options.clock, [], SWEEP_EVERY_MS);
  }

  /** Returns the attachments of a call. `owner`: the turn or the approval whose reply shows them. */
  ofCall(owner: string): CallAttachments {
    return {
      collect: () =>
        new CollectedAttachments(MOST_ATTACHMENTS - this.#store.of(owner).length, (error) =>
          this.#options.onRefused(error),
        ),
      keep: (run, collected) => this.#keep({ ...run, owner }, collected),
      record: (ledgerKey) => this.#store.record(owner, ledgerKey),
    };
  }

  /** Returns the attachments that count, in order. Every call returns new copies. */
  of(owners: readonly string[]): StoredAttachment[] {
    return owners
      .flatMap((owner) => this.#store.of(owner))
      .map((json) => attachmentSchema.parse(JSON.parse(json)) as StoredAttachment);
  }

  /** Deletes bytes that replies in the outbox do not need. */
  release(owners: readonly string[]): void {
    for (const runId of owners.flatMap((owner) => this.#store.runsOf(owner)))
      this.#options.files.release(holderOf(runId));
  }

  async #keep(
    run: AttachmentRun,
    { drafts, unsent: refused }: Collected,
  ): Promise<readonly UnsentAttachment[]> {
    const { clock, database, files, onRefused } = this.#options;
    try {
      this.#releaseOld();
      const unsent = await this.#storeBytes(drafts);
      const storedIds = drafts
        .flatMap(({ sources }) => sources)
        .flatMap(({ file }) => (file.unsent === undefined ? [file.storedId] : []));
      database.transaction(() => {
        for (const earlier of this.#store.dropEarlier(run)) files.release(holderOf(earlier));
        files.hold(holderOf(run.runId), storedIds);
        for (const { json } of drafts) this.#store.insert(run, JSON.stringify(json), clock.now());
      });
      return [...refused, ...unsent];
    } catch (error) {
      // The action has had its effect, so its result stands without attachments.
      onRefused(error);
      return [...refused, ...drafts.map(({ json }) => unsentAttachment(json, error))];
    }
  }

  /** Stores the bytes of drafts. Returns those whose bytes could not be stored; people read their names instead. */
  async #storeBytes(drafts: readonly AttachmentDraft[]): Promise<UnsentAttachment[]> {
    const { files, onRefused } = this.#options;
    const unsent: UnsentAttachment[] = [];
    for (const { json, sources } of drafts) {
      for (const { file, source } of sources) {
        try {
          Object.assign(file, await files.addBytes(source));
        } catch (error) {
          file.unsent = failureCode(error);
          unsent.push(unsentAttachment(json, error));
          onRefused(error);
        }
      }
    }
    return unsent;
  }

  #releaseOld(): void {
    const { clock, files } = this.#options;
    if (!this.#sweep.run()) return;
    for (const runId of this.#store.sweep(clock.now() - KEEP_MS, MOST_SWEPT)) files.release(holderOf(runId));
  }
}

function holderOf(runId: string): string {
  return `attach:${runId}`;
}
