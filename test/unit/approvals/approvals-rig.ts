import { Approvals } from "../../../src/approvals/consent/approvals.ts";
import type { Decisions } from "../../../src/approvals/consent/decisions.ts";
import type { ApprovalRequest } from "../../../src/approvals/rules/approval-request.ts";
import type { Escalation } from "../../../src/approvals/rules/approval-host.ts";
import type { Approval, VoidReason } from "../../../src/approvals/rules/approval.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";

/** A conversation with one action, whose object may die. */
export class ApprovalsRig {
  readonly clock = createVirtualClock();
  /** Runs of the action, by approval id. */
  runs: string[] = [];
  inputs: unknown[] = [];
  drawn: string[] = [];
  /** Questions for which one card has room. */
  room = 1;
  /** Questions that were pointed at, with the turn that asked again. */
  pointedAt: (readonly [string, string])[] = [];
  /** Work of the action; a test may hold it. */
  work = (): Promise<void> => Promise.resolve();
  isFailure = false;
  why: VoidReason | undefined;
  settled = new Set<string>();
  deputies: Escalation = { places: [], unreached: [] };
  /** Looks up the chats of deputies; a test may hold it. */
  lookUp = (): Promise<void> => Promise.resolve();
  /** People who have lost the right to decide. 99 never had it. */
  lost = new Set(["99"]);
  /** Whether the bot knows that nobody may decide any more. */
  isNobodyLeft = false;
  keepMs: (() => number) | undefined;
  life = 1;
  toGo = Infinity;
  approvals: Approvals;
  readonly #data = createNodeDatabase();

  constructor() {
    this.#data.run("CREATE TABLE told (what TEXT)");
    this.#data.run("CREATE TABLE card (ids TEXT)");
    this.approvals = this.#create();
  }

  /** What the conversation was told, stored in the same transactions as the approvals. */
  get told(): string[] {
    return this.#data.all<{ what: string }>("SELECT what FROM told").map(({ what }) => what);
  }

  /** The approvals of all cards that were stored, in order. */
  get shown(): string[][] {
    return this.#data
      .all<{ ids: string }>("SELECT ids FROM card")
      .map(({ ids }) => JSON.parse(ids) as string[]);
  }

  /** Whether somebody may have seen a card of an approval. */
  isShown(id: string): boolean {
    return this.shown.some((ids) => ids.includes(id));
  }

  decide(...[id, decision, by]: Parameters<Decisions["decide"]>): ReturnType<Decisions["decide"]> {
    return this.approvals.decisions.decide(id, decision, by);
  }

  /** Asks, and returns the question. */
  ask(question: ApprovalRequest): Approval {
    const approval = this.approvals.asking.request(question);
    if (approval === undefined) throw new Error("The question was refused");
    return approval;
  }

  start(): void {
    this.approvals = this.#create();
  }

  #create(): Approvals {
    const born = (this.life += 1);
    const pass = (): void => {
      if (this.life !== born) throw new Error("killed by a test");
      if (this.toGo === 0) {
        this.life += 1;
        throw new Error("killed by a test");
      }
      this.toGo -= 1;
    };
    let ids = 0;
    const { clock, keepMs } = this;
    const database = this.#data.withHooks({ beforeWrite: pass, afterWrite: pass });
    return new Approvals({
      database,
      clock,
      newId: () => `a${born}-${(ids += 1)}`,
      pointAt: ({ id }, requestId) => void this.pointedAt.push([id, requestId]),
      isNobodyLeft: () => Promise.resolve(this.isNobodyLeft),
      mayDecide: (_approval, { person }) => Promise.resolve(!this.lost.has(person?.userId ?? "")),
      ...(keepMs !== undefined && { keepMs }),
      run: async (approval) => {
        if (this.life !== born) throw new Error("killed by a test");
        await this.work();
        if (this.life !== born) throw new Error("killed by a test");
        // The ledger: an effect that was made is not made again.
        if (!this.settled.has(approval.ledgerKey)) {
          this.settled.add(approval.ledgerKey);
          this.runs.push(approval.id);
          this.inputs.push(approval.input);
        }
        return { output: "done", isFailure: this.isFailure };
      },
      remind: ({ id }) => {
        database.run("INSERT INTO told VALUES (?)", `${id}:reminder`);
      },
      outcomeOf: () => Promise.reject(new Error("No grant is given.")),
      whyImpossible: () => this.why,
      draw: ({ state }, together) => {
        this.drawn.push(state);
        // Durable, as a stored card is.
        this.#data.run("INSERT INTO card VALUES (?)", JSON.stringify(together.map(({ id }) => id)));
      },
      fitTogether: (questions) =>
        questions.length <= this.room && !questions.some(({ id }) => this.isShown(id)),
      noteUse: () => {},
      escalate: async () => {
        await this.lookUp();
        return this.deputies;
      },
      claim: () => Promise.reject(new Error("No grant is limited.")),
      tell: ({ id, state }) => {
        database.run("INSERT INTO told VALUES (?)", `${id}:${state}`);
      },
      onChange: () => {},
      onFailure: () => {},
    });
  }
}

/** A question about a call. */
export const asked = (ledgerKey: string): ApprovalRequest => ({
  action: "refund",
  toolCallId: `call ${ledgerKey}`,
  requestId: "turn",
  ledgerKey,
  input: { orderId: ledgerKey },
  inputHash: `hash ${ledgerKey}`,
  summary: "Refund an order",
  risk: undefined,
  permissions: [],
  kind: "approval-gated",
  sensitive: [],
  isTool: false,
  rootRequest: "turn",
  offer: undefined,
  modelWords: undefined,
  preview: undefined,
  people: [{ userId: "1" }],
  requester: { userId: "1" },
  origin: undefined,
  approvers: { kind: "anyone" },
  requesterMayApprove: true,
  messageId: undefined,
  askedIn: [],
  unreached: [],
  remindAt: undefined,
  expiresAt: Date.UTC(2026, 0, 1) + 7 * 24 * 60 * 60 * 1000,
});
