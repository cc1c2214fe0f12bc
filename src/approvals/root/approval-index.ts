import { AllowanceStore } from "../stored/allowance-store.ts";
import { parsePlace } from "../stored/stored-report.ts";
import type { AllowanceClaim } from "../rules/allowance.ts";
import type {
  ApprovalReport,
  IndexedApproval,
  PendingApprovalFilter,
  PendingApprovalPage,
} from "../rules/approval-index.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import { createApprovalIndexStore } from "../stored/approval-index-store.ts";
import type { ApprovalIndexStore } from "../stored/approval-index-store.ts";
import type { ApprovalFilter } from "../stored/approval-store.ts";
import { grantKeyOf, wantedKeys } from "../stored/index-keys.ts";
import { APPROVALS } from "./approval-calls.ts";
import type {
  ApprovalHint,
  ApprovalIndexCalls,
  ApprovalViewer,
  GrantPlace,
  OutsideDecision,
  OutsideResult,
} from "./approval-calls.ts";
import { Sweep } from "../../core/store/sweep-store.ts";

const SWEEP_EVERY_MS = 60 * 60_000;
const MOST_LISTED = 1000;
/** Records of one page: each conversation among them is asked. */
const MOST_RECORDS = 200;
/** Hints of one kind: each conversation among them is asked. */
const MOST_HINTS = 50;

/** Approvals and actions that wait for people in any conversation of the bot. The root keeps this index. */
export class ApprovalIndex implements ApprovalIndexCalls {
  readonly #host: Pick<ApprovalsHost, "agent" | "database" | "deps" | "directories" | "objects">;
  readonly #store: ApprovalIndexStore;
  readonly #allowances: AllowanceStore;
  readonly #sweep: Sweep;

  constructor(host: Pick<ApprovalsHost, "agent" | "database" | "deps" | "directories" | "objects">) {
    this.#host = host;
    this.#store = createApprovalIndexStore(host.database);
    this.#allowances = new AllowanceStore(host.database);
    const keepMs = (): number => host.agent.keepApprovalsMs;
    const old = { table: "approval_index_v1", since: "ended_at", keepMs };
    this.#sweep = new Sweep(host.database, host.deps.clock, [old], SWEEP_EVERY_MS);
  }

  async noteApproval(report: ApprovalReport): Promise<void> {
    this.#store.put(report);
    if (report.isGivenBack === true) this.#allowances.giveBack(report.approval.executionId);
    this.#sweep.run();
  }

  async claimAllowance(claim: AllowanceClaim): Promise<boolean> {
    return this.#allowances.claim(claim);
  }

  async waitingApprovals(filter: PendingApprovalFilter): Promise<PendingApprovalPage> {
    return this.page(filter);
  }

  async approvalHints({ messengerId, person, thread }: ApprovalViewer): Promise<readonly ApprovalHint[]> {
    // A group sees nothing but its own requests.
    const userId = thread.isDirectMessage ? person?.userId : undefined;
    const wanted = wantedKeys({ messengerId, userId, threadId: thread.id });
    const named = this.#store.named(wanted, MOST_HINTS);
    const known = new Set(named.map(({ executionId }) => executionId));
    const unnamed = thread.isDirectMessage ? this.#store.unnamed(wanted, MOST_HINTS) : [];
    const found = [...named, ...unnamed.filter(({ executionId }) => !known.has(executionId))];
    return found.map(({ chat, conversation, executionId: id }) => {
      const chatTitle = chat && this.#host.directories.titleOf(chat.messengerId, chat.chatId);
      return { id, conversation, ...(chatTitle !== undefined && { chatTitle }) };
    });
  }

  async grantPlaces({ messengerId, person, thread }: ApprovalViewer): Promise<readonly GrantPlace[]> {
    if (person === undefined || !thread.isDirectMessage) return [];
    return this.#store.grantPlaces(grantKeyOf(messengerId, person.userId), MOST_HINTS).map((conversation) => {
      const title = this.#host.directories.titleOfConversation(conversation);
      return { conversation, ...(title !== undefined && { title }) };
    });
  }

  page({ cursor, limit = 100 }: PendingApprovalFilter): PendingApprovalPage {
    const most = Math.max(1, Math.min(limit, MOST_LISTED));
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    const found = this.#store.waiting(after, most + 1);
    const approvals = found.slice(0, most);
    const last = found.length > most ? approvals.at(-1) : undefined;
    return {
      approvals,
      ...(last !== undefined && {
        cursor: JSON.stringify({ createdAt: last.createdAt, id: last.executionId }),
      }),
    };
  }

  /** Returns those that wait: all of them, at most 1000, or this one. */
  waiting(id: string | undefined): IndexedApproval[] {
    if (id === undefined) return [...this.page({ limit: MOST_LISTED }).approvals];
    const found = this.#store.get(id);
    return found?.state === "waiting" ? [found] : [];
  }

  /** Returns a page of all that was asked, the newest first. */
  list(filter: ApprovalFilter): IndexedApproval[] {
    return this.#store.list(filter, Math.max(1, Math.min(filter.limit ?? 100, MOST_RECORDS)));
  }

  async findApproval(id: string): Promise<IndexedApproval | undefined> {
    return this.#store.get(id);
  }

  conversationOf(id: string): string | undefined {
    return this.#store.get(id)?.conversation;
  }

  async decideAnywhere(id: string, decided: OutsideDecision): Promise<OutsideResult> {
    const known = this.#store.get(id);
    if (known === undefined) return { kind: "unknown" };
    return this.#host.objects.to(APPROVALS, known.conversation).decideApproval(id, decided);
  }
}
