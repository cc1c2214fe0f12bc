import type { Approval, CallOutcome } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import type { FreshGrants } from "./fresh-grants.ts";
import type { GrantedRuns } from "./granted-runs.ts";
import type { HeldQuestions } from "./held-questions.ts";
import { groupsOf } from "../rules/together.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";
import { shownAlsoIn } from "./card-to-take.ts";
import { Sweep } from "../../core/store/sweep-store.ts";
import type { ConsentParts } from "./consent-parts.ts";

interface ApprovalWorkParts extends ConsentParts {
  readonly granted: GrantedRuns;
  readonly fresh: FreshGrants;
  readonly held: HeldQuestions;
}

const KEEP_MS = 365 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** Time after which work that a crash or a failure left is tried again. */
const AGAIN_AFTER_MS = 2500;

/**
 * Acts on stored approvals: expires, reminds, escalates, draws, runs, tells. Each step is stored before the next begins, and is
 * repeated until its end is stored.
 */
export class ApprovalWork {
  readonly #host: ApprovalHost;
  readonly #stored: StoredApprovals;
  readonly #granted: GrantedRuns;
  readonly #fresh: FreshGrants;
  readonly #held: HeldQuestions;
  /** Approvals whose action is running in this process. */
  readonly #running = new Map<string, Promise<void>>();
  /** When runs that could not begin are tried again. */
  readonly #restsUntil = new Map<string, number>();
  /** Questions whose deputies' chats are looked up in this process. */
  readonly #escalating = new Map<string, Promise<void>>();
  #catchingUp: Promise<void> | undefined;
  readonly #sweep: Sweep;
  #hasChecked = false;

  constructor({ fresh, granted, held, host, stored }: ApprovalWorkParts) {
    this.#held = held;
    this.#host = host;
    this.#stored = stored;
    this.#granted = granted;
    this.#fresh = fresh;
    const keepMs = (): number => host.keepMs?.() ?? KEEP_MS;
    const old = [
      {
        table: "approval_v1",
        key: "id",
        where: "is_unfinished = 0",
        since: "COALESCE(ended_at, created_at)",
        keepMs,
      },
      { table: "grant_v1", key: "id", since: "COALESCE(revoked_at, until)", keepMs },
    ];
    this.#sweep = new Sweep(host.database, host.clock, old, SWEEP_EVERY_MS);
  }

  /** Works on a change that was stored, without waiting. */
  go(): void {
    this.#host.onChange();
    this.run().catch((error: unknown) => this.#host.onFailure(error));
  }

  /**
   * Does all due work: expires, escalates, draws, runs, tells. Called at start, by alarm and after each change. Resolves when the
   * actions that it has begun have ended.
   */
  async run(): Promise<void> {
    const now = this.#host.clock.now();
    if (!this.#hasChecked) {
      // Only a new version of the bot, which is a new process, can lack an action or a messenger.
      this.#hasChecked = true;
      if (this.#stored.cancel((approval) => this.#host.whyImpossible(approval))) this.#host.onChange();
    }
    this.#bringTogether(this.#stored.store.due(now));
    for (const approval of this.#stored.store.due(now)) {
      if (this.#held.has(approval) && approval.state === "waiting") continue;
      const isWaiting = approval.state === "waiting";
      if (isWaiting && now < approval.expiresAt && now >= (approval.remindAt ?? Infinity))
        this.#remind(approval);
      if (isWaiting && now < approval.expiresAt && now >= (approval.escalateAt ?? Infinity))
        this.#escalate(approval);
      const isLate = isWaiting && now >= approval.expiresAt;
      this.#bringUpToDate(isLate ? this.#stored.change(approval, { state: "expired" }) : approval);
    }
    this.#sweep.run();
    if (this.#isBehind()) {
      this.#catchingUp ??= this.#catchUp()
        .catch((error: unknown) => this.#host.onFailure(error))
        .finally(() => (this.#catchingUp = undefined));
    }
    await Promise.all([...this.#running.values(), ...this.#escalating.values(), this.#catchingUp]);
  }

  /** Whether an action is running in this process. */
  isBusy(): boolean {
    return this.#running.size > 0 || this.#escalating.size > 0 || this.#catchingUp !== undefined;
  }

  #isBehind(): boolean {
    return this.#granted.hasLost() || this.#fresh.any();
  }

  /** Time at which `run` must be called again, in epoch milliseconds. Undefined if no work is left. */
  nextWakeAt(): number | undefined {
    const at = this.#isBehind() ? 0 : this.#stored.store.nextDueAt();
    const soon = this.#host.clock.now() + AGAIN_AFTER_MS;
    return at === 0 || (at !== undefined && at < soon && this.#escalating.size > 0) ? soon : at;
  }

  /** The calls of a step are over, so people see what the step asks. */
  stepEnded(requestId: string): void {
    if (this.#held.release(requestId)) this.go();
  }

  /** New questions of a step that fit on one card get one. A question that people have seen never gets another one beside it. */
  #bringTogether(due: readonly Approval[]): void {
    const host = this.#host;
    const fresh = due.filter((one) => one.drawnState === undefined && !this.#held.has(one));
    for (const group of groupsOf(fresh, (questions) => host.fitTogether?.(questions) === true))
      host.database.transaction(() => this.#stored.bringTogether(group));
  }

  /** One reminder is enough for all questions of a card. */
  #remind(approval: Approval): void {
    const first = this.#stored.store.together(approval).find(({ state }) => state === "waiting");
    this.#host.database.transaction(() => {
      this.#stored.change(approval, { remindAt: undefined });
      if (first === undefined || first.id === approval.id) this.#host.remind(approval);
    });
  }

  /** Finds the deputies' chats, and stores with them in one step that the deputies are asked. A crash repeats it. */
  #escalate({ id, ...asked }: Approval): void {
    if (this.#escalating.has(id)) return;
    const work = this.#host
      .escalate({ id, ...asked })
      .then(({ places, unreached: away }) => {
        const approval = this.#stored.store.get(id);
        if (approval?.state !== "waiting" || approval.escalateAt === undefined) return;
        const broughtTo = places.reduce(
          (shown, place) => shownAlsoIn({ ...approval, broughtTo: shown }, place) ?? shown,
          approval.broughtTo ?? [],
        );
        const known = new Set(approval.unreached.map(({ who }) => who));
        const unreached = [...approval.unreached, ...away.filter(({ who }) => !known.has(who))];
        this.#host.database.transaction(() => {
          const escalatedAt = this.#host.clock.now();
          const change = { broughtTo, unreached, escalatedAt, escalateAt: undefined, drawnState: undefined };
          this.#stored.draw(this.#stored.change(approval, change));
        });
      })
      .catch((error: unknown) => this.#host.onFailure(error))
      .finally(() => {
        this.#escalating.delete(id);
        this.#host.onChange();
      });
    this.#escalating.set(id, work);
  }

  /** Compares new grants with what waits, and finds lost outcomes. A crash repeats it. */
  async #catchUp(): Promise<void> {
    await this.#fresh.cover(() => this.go());
    await this.#granted.findLost();
  }

  #bringUpToDate(approval: Approval): void {
    const { state } = approval;
    if (state === "approved" || state === "running") {
      this.#runAction(approval);
      return;
    }
    this.#host.database.transaction(() => {
      this.#stored.draw(approval);
      if (state !== "waiting" && !approval.isTold) {
        this.#host.tell(approval);
        this.#stored.change(approval, { isTold: true });
      }
    });
  }

  /**
   * Stores the outcome of a call that has asked people while it ran. Returns `false` if no approval runs this call. Only
   * inside a transaction.
   */
  callEnded(requestId: string, toolCallId: string, outcome: CallOutcome): boolean {
    const running = this.#stored.store.ofCall(requestId, toolCallId);
    if (running?.state !== "running") return false;
    this.#ended(running, outcome);
    this.#host.onChange();
    return true;
  }

  #ended(running: Approval, { isFailure, output }: CallOutcome): Approval {
    const state = isFailure ? "failed" : "done";
    return this.#stored.change(running, { state, outcome: output, asksPeople: false });
  }

  #runAction(approved: Approval): void {
    const { id } = approved;
    if (this.#running.has(id) || this.#host.clock.now() < (this.#restsUntil.get(id) ?? 0)) return;
    const running = this.#host.database.transaction(() => {
      const claimed = this.#stored.change(approved, { state: "running" });
      this.#stored.draw(claimed);
      return claimed;
    });
    const work = this.#host
      .run(running)
      .then((outcome) => {
        this.#running.delete(id);
        const now = this.#stored.store.get(id);
        if (now?.state !== "running") return;
        if (outcome === undefined) this.#stored.change(now, { asksPeople: true });
        else this.#bringUpToDate(this.#ended(now, outcome));
      })
      .catch((error: unknown) => {
        // The row stays `running`. A later wake-up tries again, and the ledger knows the outcome of this try.
        this.#running.delete(id);
        this.#restsUntil.set(id, this.#host.clock.now() + AGAIN_AFTER_MS);
        this.#host.onFailure(error);
      })
      .finally(() => this.#host.onChange());
    this.#running.set(id, work);
  }
}
