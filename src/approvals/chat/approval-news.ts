import type { Approval } from "../rules/approval.ts";
import { indexedApprovalOf } from "../rules/approval-index.ts";
import type { ApprovalReport, IndexedApproval } from "../rules/approval-index.ts";
import { createApprovalNewsStore } from "../stored/approval-news-store.ts";
import type { ApprovalNewsStore } from "../stored/approval-news-store.ts";
import { grantKeysOf, indexKeysOf } from "../stored/index-keys.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";

export interface ApprovalNewsOptions {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
  readonly log: Log;
  /** Name of the conversation. */
  readonly conversation: () => string;
  /** Stores a change in the root's index. */
  readonly note: (report: ApprovalReport) => Promise<void>;
  /** Calls the bot's `onApprovalRequested`. Never rejects. */
  readonly onRequested: (approval: IndexedApproval) => Promise<void>;
}

const TELL_AGAIN_MS = 5000;

/** Reports the approvals of a conversation to the root's index and to the bot's hook, until both know them. */
export class ApprovalNews {
  readonly #options: ApprovalNewsOptions;
  readonly #store: ApprovalNewsStore;
  #isTelling = false;

  constructor(options: ApprovalNewsOptions) {
    this.#options = options;
    this.#store = createApprovalNewsStore(options.database);
  }

  /** Stores that an approval has a new state. Called in the transaction that stores the state. */
  changed(approval: Approval): void {
    const { action, id, reason, requestId, state, toolCallId } = approval;
    this.#options.log.info("approval.changed", {
      turn: requestId,
      approval: id,
      action,
      call: toolCallId,
      state,
      ...(state === "void" && { code: reason }),
    });
    this.#store.add({
      approval: indexedApprovalOf(approval, this.#options.conversation()),
      keys: approval.state === "waiting" ? indexKeysOf(approval) : [],
      grantKeys: grantKeysOf(approval),
    });
  }

  /** Time for the next call of `tell`, in epoch milliseconds. Undefined if everything is told. */
  get tellAgainAt(): number | undefined {
    return this.#store.next() === undefined ? undefined : this.#options.deps.clock.now() + TELL_AGAIN_MS;
  }

  tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    void this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    const { log, note, onRequested } = this.#options;
    try {
      for (let item = this.#store.next(); item !== undefined; item = this.#store.next()) {
        const { approval } = item.report;
        await note(item.report);
        if (approval.state === "waiting") await onRequested(approval);
        this.#store.remove(item.seq);
      }
    } catch (error) {
      // The root cannot be reached. The loop calls again.
      log.warn("approval.not-indexed", { code: failureCode(error) });
    } finally {
      this.#isTelling = false;
    }
  }
}
