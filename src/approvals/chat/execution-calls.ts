import type { ApprovalDecision } from "../rules/approval.ts";
import type { IndexedApproval } from "../rules/approval-index.ts";
import type { ApprovalFilter } from "../stored/approval-store.ts";
import type { ApprovalRecord, ExecutionDecision, PendingApproval } from "../rules/pending-approval.ts";
import type { FeatureHost } from "../../feature/feature-host.ts";
import { APPROVALS } from "../root/approval-calls.ts";
import type { ApprovalIndex } from "../root/approval-index.ts";
import type { ApprovalDesk } from "./approval-desk.ts";

export interface ExecutionCallsOptions {
  readonly host: Pick<FeatureHost<unknown>, "objects" | "ready" | "durable">;
  readonly desk: Pick<ApprovalDesk, "approvals" | "outside">;
  /** The approvals of all conversations, if this object is the root. */
  readonly index: () => Pick<ApprovalIndex, "list" | "waiting" | "conversationOf"> | undefined;
}

/** Approvals for the bot's own code: those of a conversation, and at the root those of all conversations. */
export class ExecutionCalls {
  readonly #options: ExecutionCallsOptions;

  constructor(options: ExecutionCallsOptions) {
    this.#options = options;
  }

  pending(executionId: string | undefined): PendingApproval[] {
    const { desk, index } = this.#options;
    const own = desk.outside.pending(executionId);
    const indexed = index()?.waiting(executionId) ?? [];
    const known = new Set(indexed.map((one) => one.executionId));
    return [...indexed, ...own.filter((one) => !known.has(one.executionId))];
  }

  /** Returns what was asked, newest first. At the root each conversation of the page is asked for its own. */
  async list(filter: ApprovalFilter): Promise<ApprovalRecord[]> {
    const { desk, host, index } = this.#options;
    await host.ready();
    const all = index();
    if (all === undefined) return [...desk.approvals.list(filter)];
    let page = all.list(filter);
    let found = await this.#recordsOf(page, filter);
    // A conversation may have deleted what the index still names. An empty page means that there is no more.
    for (let last = page.at(-1); found.length === 0 && last !== undefined; last = page.at(-1)) {
      page = all.list({ ...filter, before: last.executionId });
      found = await this.#recordsOf(page, filter);
    }
    return found;
  }

  async #recordsOf(
    page: readonly IndexedApproval[],
    { state }: Pick<ApprovalFilter, "state">,
  ): Promise<ApprovalRecord[]> {
    const { desk, host } = this.#options;
    const asked = Map.groupBy(page, ({ conversation }) => conversation);
    const read = await Promise.all(
      [...asked].map(async ([conversation, those]) => {
        const ids = those.map(({ executionId }) => executionId);
        // The root's own approvals have no name of a conversation.
        const kept =
          conversation === ""
            ? desk.outside.read(ids)
            : await host.objects.to(APPROVALS, conversation).readApprovals(ids);
        return kept.map((one) => ({ ...one, conversation }));
      }),
    );
    const records = new Map(read.flat().map((one) => [one.id, one]));
    // The index hears of a new state a moment later.
    return page
      .map(({ executionId }) => records.get(executionId))
      .filter((one) => one !== undefined)
      .filter((one) => state === undefined || one.state === state);
  }

  /** Resolves when the decision is durable. */
  async decide(executionId: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    const { desk, host, index } = this.#options;
    await host.ready();
    const result = await desk.outside.decide(executionId, decision);
    await host.durable();
    if (result.kind !== "unknown") return result;
    const conversation = index()?.conversationOf(executionId);
    // The root's own approvals have no name of a conversation.
    return conversation === undefined || conversation === ""
      ? result
      : host.objects.to(APPROVALS, conversation).decideExecution(executionId, decision);
  }
}
