import { z } from "zod";
import type { Database } from "../core/database.ts";
import type { HeldFiles } from "../core/delivery.ts";
import type { Clock } from "../core/deps.ts";
import type { StoredAttachment } from "../core/reply-attachment.ts";
import { AttachmentStore } from "./attachment-store.ts";
import type { AttachmentRun } from "./attachment-store.ts";
import { CollectedAttachments, MOST_ATTACHMENTS } from "./collected-attachments.ts";
import type { AttachmentDraft } from "./collected-attachments.ts";

export interface AttachmentsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly files: HeldFiles;
  /** Logs an attachment that is left out. Must not throw. */
  readonly onRefused: (error: unknown) => void;
}

/** The attachments of one call of an action. */
export interface CallAttachments {
  /** Begins to collect what `execute` attaches. */
  collect(): CollectedAttachments;
  /** Stores what a run has attached, with its bytes. It counts after `record`. Never throws. */
  keep(
    run: { readonly runId: string; readonly ledgerKey: string },
    drafts: readonly AttachmentDraft[],
  ): Promise<void>;
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
  #sweptAt = -Infinity;

  constructor(options: AttachmentsOptions) {
    this.#options = options;
    this.#store = new AttachmentStore(options.database);
  }

  /** Returns the attachments of a call. `owner`: the turn or the approval whose reply shows them. */
  ofCall(owner: string): CallAttachments {
    return {
      collect: () =>
        new CollectedAttachments(MOST_ATTACHMENTS - this.#store.of(owner).length, (error) =>
          this.#options.onRefused(error),
        ),
      keep: (run, drafts) => this.#keep({ ...run, owner }, drafts),
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

  async #keep(run: AttachmentRun, drafts: readonly AttachmentDraft[]): Promise<void> {
    const { clock, database, files, onRefused } = this.#options;
    try {
      this.#sweep();
      const kept = await this.#withBytes(drafts);
      const storedIds = kept.flatMap(({ sources }) => sources.map(({ file }) => file.storedId));
      database.transaction(() => {
        for (const earlier of this.#store.dropEarlier(run)) files.release(holderOf(earlier));
        files.hold(holderOf(run.runId), storedIds);
        for (const { json } of kept) this.#store.insert(run, JSON.stringify(json), clock.now());
      });
    } catch (error) {
      // The action has had its effect, so its result stands without attachments.
      onRefused(error);
    }
  }

  async #withBytes(drafts: readonly AttachmentDraft[]): Promise<AttachmentDraft[]> {
    const { files, onRefused } = this.#options;
    const kept: AttachmentDraft[] = [];
    for (const draft of drafts) {
      try {
        for (const { file, source } of draft.sources) Object.assign(file, await files.addBytes(source));
        kept.push(draft);
      } catch (error) {
        onRefused(error);
      }
    }
    return kept;
  }

  #sweep(): void {
    const { clock, files } = this.#options;
    const now = clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const runId of this.#store.sweep(now - KEEP_MS, MOST_SWEPT)) files.release(holderOf(runId));
  }
}

function holderOf(runId: string): string {
  return `attach:${runId}`;
}
