import { isAskedOutside } from "../rules/approval.ts";
import type { Approval, ApprovalState } from "../rules/approval.ts";
import { indexedApprovalOf } from "../rules/approval-index.ts";
import type { IndexedApproval } from "../rules/approval-index.ts";
import { createApprovalNewsStore } from "../stored/approval-news-store.ts";
import type { ApprovalNewsStore } from "../stored/approval-news-store.ts";
import { grantKeysOf, indexKeysOf } from "../stored/index-keys.ts";
import { runBotCode } from "../../core/time/bot-code.ts";
import { failureCode } from "../../core/base/errors.ts";
import { APPROVALS } from "../root/approval-calls.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";

const TELL_AGAIN_MS = 5000;

/** How a question ended, by the first state in which it is reported. Later states are about the run. */
const ENDS: Readonly<Partial<Record<ApprovalState, string>>> = {
  running: "approved",
  rejected: "rejected",
  expired: "expired",
  withdrawn: "withdrawn",
  replaced: "replaced",
  void: "void",
};

/** Reports the approvals of a conversation to the root's index and to the bot's hook, until both know them. */
export class ApprovalNews {
  readonly #host: Pick<ApprovalsHost, "agent" | "database" | "deps" | "engine" | "log" | "objects">;
  readonly #store: ApprovalNewsStore;
  #isTelling = false;

  constructor(host: Pick<ApprovalsHost, "agent" | "database" | "deps" | "engine" | "log" | "objects">) {
    this.#host = host;
    this.#store = createApprovalNewsStore(host.database);
  }

  /** Stores that an approval has a new state. Called in the transaction that stores the state. */
  changed(approval: Approval): void {
    const { action, createdAt, id, reason, requestId, state, toolCallId } = approval;
    this.#host.log.info("approval.changed", {
      turn: requestId,
      approval: id,
      action,
      call: toolCallId,
      state,
      ...(state === "void" && { code: reason }),
    });
    const outcome = ENDS[state];
    if (outcome !== undefined)
      this.#host.engine.events.emit(requestId, {
        kind: "approval-ended",
        callId: toolCallId,
        beganAt: createdAt,
        outcome,
      });
    this.#store.add({
      approval: indexedApprovalOf(approval, this.#host.objects.address()),
      keys: approval.state === "waiting" && !isAskedOutside(approval) ? indexKeysOf(approval) : [],
      grantKeys: grantKeysOf(approval),
      ...(approval.isGivenBack === true && { isGivenBack: true }),
    });
  }

  /** Time for the next call of `tell`, in epoch milliseconds. Undefined if everything is told. */
  get tellAgainAt(): number | undefined {
    return this.#store.next() === undefined ? undefined : this.#host.deps.clock.now() + TELL_AGAIN_MS;
  }

  tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    void this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    const { log, objects } = this.#host;
    try {
      for (let item = this.#store.next(); item !== undefined; item = this.#store.next()) {
        const { approval } = item.report;
        await objects.root(APPROVALS).noteApproval(item.report);
        if (approval.state === "waiting") await this.#requested(approval);
        this.#store.remove(item.seq);
      }
    } catch (error) {
      // The root cannot be reached. The loop calls again.
      log.warn("approval.not-indexed", { code: failureCode(error) });
    } finally {
      this.#isTelling = false;
    }
  }

  async #requested(approval: IndexedApproval): Promise<void> {
    const { agent, deps, log } = this.#host;
    if (agent.onApprovalRequested === undefined) return;
    try {
      await runBotCode({ clock: deps.clock, log }, "onApprovalRequested", () =>
        agent.onApprovalRequested?.(approval),
      );
    } catch {
      // The log has the reason, and the request waits for people anyway.
    }
  }
}
