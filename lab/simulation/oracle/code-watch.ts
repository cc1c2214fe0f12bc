import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import { getTurn } from "../../../src/core/turn/turn-context.ts";
import type { Life } from "../machine/life.ts";
import type { CodeItem } from "../plan/code-items.ts";
import type { Plan } from "../plan/plan.ts";
import type { Invariant, StoredOperation } from "./contract.ts";

export type PlannedCode = Extract<CodeItem, { kind: "code" }>;

/** Counts that prove that these cases occur. */
export interface CodeFigures {
  /** Runs of code that have begun. */
  codeRuns: number;
  /** Their calls: those with an effect, and those that began again after a death. */
  codeCalls: number;
  codeCallsAgain: number;
  /** Presses about calls of code that were told to have decided. */
  codeApproved: number;
  codeRejected: number;
  /** Presses of Undo: those that have undone something, and those of people who may not. */
  undoPresses: number;
  undoBystanders: number;
  /** Effects that were undone, and those of them by the bot's own code. */
  undone: number;
  rolledBack: number;
  /** And after somebody has asked for it in words. */
  undoneByWords: number;
}

export const NO_CODE: Readonly<CodeFigures> = {
  codeRuns: 0,
  codeCalls: 0,
  codeCallsAgain: 0,
  codeApproved: 0,
  codeRejected: 0,
  undoPresses: 0,
  undoBystanders: 0,
  undone: 0,
  rolledBack: 0,
  undoneByWords: 0,
};

export function codeRows(figures: CodeFigures): readonly (readonly [string, number])[] {
  return [
    ["runs of code", figures.codeRuns],
    ["calls of code", figures.codeCalls],
    ["calls of code after a crash", figures.codeCallsAgain],
    ["presses that agreed to a call of code", figures.codeApproved],
    ["presses that refused one", figures.codeRejected],
    ["presses of Undo", figures.undoPresses],
    ["presses of Undo by bystanders", figures.undoBystanders],
    ["effects that were undone", figures.undone],
    ["of these by the bot's own code", figures.rolledBack],
    ["of these after somebody's words", figures.undoneByWords],
  ];
}

/** One effect in the outside world. */
interface Work {
  readonly effect: string;
  readonly index: number;
  /** The card that offers to undo it: that of the turn, or that of the run behind it. */
  card: "turn" | "run";
  readonly begun: { readonly at: number; readonly life: Life }[];
  readonly reverted: { readonly at: number; readonly life: Life }[];
  /** People who were told that their press has decided. */
  readonly approvedBy: Set<string>;
  isRejected: boolean;
}

export interface CodeRun {
  readonly turn: number;
  readonly plan: PlannedCode;
  readonly threadId: string;
  readonly operation: StoredOperation;
  readonly works: readonly Work[];
  requester: string | undefined;
  /** Since when the bot's own code undoes the run. */
  rolledBackAt: number | undefined;
  /** Number of effects so far. */
  order: string[];
}

/** A press of a button of a card about code. */
export interface CodePress {
  readonly turn: number;
  /** The effects that the card names. */
  readonly effects: readonly string[];
  /** The one that it asks about. */
  readonly effect: string | undefined;
  readonly label: "Approve" | "Reject" | "Undo";
  readonly person: string;
  readonly at: number;
  readonly notices: (string | undefined)[];
}

export interface CodeWatchOptions {
  readonly now: () => number;
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly items: Plan["items"];
}

/** Longest time from the end of an effect until nothing of it can be lost. */
const SETTLED_MS = 10_000;

export const WORK = /\bwork(\d+)x(\d+)\b/;

/**
 * Knows the effects of code in the outside world, and the presses of people. Each call has its effect once, after a person
 * who may has agreed to it if it asks, and in the order of the code. After a refusal and after a stop nothing more happens
 * (I9). An effect is undone once, the newest first, and only if somebody who may has wanted that.
 */
export class CodeWatch {
  readonly figures: CodeFigures = { ...NO_CODE };
  readonly runsByTurn = new Map<number, CodeRun>();
  readonly presses = new Map<string, CodePress>();
  /** People who have asked in words to undo something, and the time of their newest ones. */
  readonly #words = new Map<string, number>();
  readonly #options: CodeWatchOptions;

  constructor(options: CodeWatchOptions) {
    this.#options = options;
  }

  /** The code that is planned for the answer to some messages. */
  planned(tokens: readonly string[]): PlannedCode | undefined {
    return this.#options.items.find(
      (item): item is PlannedCode => item.kind === "code" && tokens.includes(item.token),
    );
  }

  /** Whether messages ask to undo something. */
  wantsUndo(tokens: readonly string[]): boolean {
    return this.#options.items.some((item) => item.kind === "undo-words" && tokens.includes(item.token));
  }

  asksToUndo(person: string): void {
    this.#words.set(person, this.#options.now());
  }

  /** A turn runs its code, for the first time or again after a crash. */
  begins(plan: PlannedCode, turn: number, operation: StoredOperation): void {
    if (this.runsByTurn.has(turn)) return;
    this.figures.codeRuns += 1;
    const works = plan.steps.map((_step, index): Work => ({
      effect: `work${turn}x${index}`,
      index,
      card: "turn",
      begun: [],
      reverted: [],
      approvedBy: new Set(),
      isRejected: false,
    }));
    const { threadId } = operation;
    const none = { requester: undefined, rolledBackAt: undefined, order: [] };
    this.runsByTurn.set(turn, { turn, plan, threadId, operation, works, ...none });
  }

  /** The newest run of the code for a message. */
  newestOf(token: string): CodeRun | undefined {
    return [...this.runsByTurn.values()].findLast(({ plan }) => plan.token === token);
  }

  hasRun(effect: string): boolean {
    return (this.#workOf(effect)?.work.begun.length ?? 0) > 0;
  }

  isUndone(effect: string): boolean {
    return (this.#workOf(effect)?.work.reverted.length ?? 0) > 0;
  }

  canUndo(effect: string): boolean {
    const found = this.#workOf(effect);
    return found?.run.plan.steps[found.work.index]?.undoes === "yes";
  }

  /** The work of a call begins, and has its effect at once. */
  runs(effect: string, ctx: ActionContext, life: Life): void {
    const found = this.#workOf(effect);
    if (found === undefined) return this.#fail(`${effect} happens, and no code has called it`);
    const { run, work } = found;
    const { plan } = run;
    run.requester ??= ctx.person?.userId;
    const isFirst = work.begun.length === 0;
    this.figures[isFirst ? "codeCalls" : "codeCallsAgain"] += 1;
    if (!isFirst && plan.repeats !== "keyed") this.#fail(`${effect} happens again`);
    if (work.begun.some((one) => !one.life.isDead))
      this.#fail(`${effect} happens again, and no process had died`);
    if (work.reverted.length > 0) this.#fail(`${effect} happens, and was undone before`);
    work.begun.push({ at: this.#options.now(), life });
    work.card = getTurn()?.id === ctx.requestId ? "turn" : "run";
    if (isFirst) run.order.push(effect);
    this.#checkConsent(run, work);
    this.#checkPlace(run, work);
  }

  #checkConsent(run: CodeRun, work: Work): void {
    const { plan } = run;
    if (work.isRejected) this.#fail(`${work.effect} happens, and somebody was told that it is rejected`);
    if (plan.steps[work.index]?.asks !== true) return;
    const isAgreed = [...this.presses.values()].some(
      ({ effect, label, person }) => effect === work.effect && label === "Approve" && mayDecide(plan, person),
    );
    if (!isAgreed) this.#fail(`${work.effect} happens, and nobody who may has agreed`);
  }

  /** A call has its place behind the earlier ones, and none has one behind a refusal or a stop. */
  #checkPlace(run: CodeRun, { effect, index }: Work): void {
    const { plan, works } = run;
    if (works.some(({ isRejected }) => isRejected))
      this.#fail(`${effect} happens, and a call of its run is rejected`);
    if (this.isStopped(run)) this.#fail(`${effect} happens, and its turn was stopped`);
    if (plan.order === "together") return;
    const missing = works.find((one) => one.index < index && one.begun.length === 0);
    // A call that was cut may have an unknown end, with which the code goes on.
    if (missing !== undefined && !(plan.catches && plan.repeats === "never"))
      this.#fail(`${effect} happens before ${missing.effect}`);
  }

  /** Whether a run was stopped with its turn. One that has paused before goes on when somebody agrees. */
  isStopped({ operation, turn }: CodeRun): boolean {
    if (operation.wasStopped !== true || operation.status !== "aborted") return false;
    return ![...this.presses.values()].some((press) => press.turn === turn && press.label === "Approve");
  }

  /** An effect is undone. */
  reverts(effect: string, life: Life): void {
    const found = this.#workOf(effect);
    if (found === undefined || found.work.begun.length === 0)
      return this.#fail(`${effect} is undone, and never happened`);
    const { run, work } = found;
    const now = this.#options.now();
    const isFirst = work.reverted.length === 0;
    if (isFirst) this.figures.undone += 1;
    // The outside system knows the key of an undo, and undoes once.
    if (work.reverted.some((one) => !one.life.isDead || one.life.diedAt > one.at + SETTLED_MS))
      this.#fail(`${effect} is undone again`);
    work.reverted.push({ at: now, life });
    const press = [...this.presses.values()].findLast(
      ({ effects, label, person }) =>
        label === "Undo" && this.mayUndo(run, person) && this.#isOfCard(run, work, effects),
    );
    const said = [...this.#words].filter(([person]) => this.mayUndo(run, person)).map(([, at]) => at);
    const words = Math.max(-Infinity, ...said);
    const since = Math.max(press?.at ?? -Infinity, run.rolledBackAt ?? -Infinity, words);
    if (isFirst && since === words && since > -Infinity) this.figures.undoneByWords += 1;
    if (isFirst && run.rolledBackAt !== undefined) this.figures.rolledBack += 1;
    if (since === -Infinity) return this.#fail(`${effect} is undone, and nobody who may has wanted that`);
    this.#checkOrder(run, work, since);
  }

  /** Whether a card with these effects is the one of a work. It grows while people look at it. */
  #isOfCard({ works }: CodeRun, { card }: Work, effects: readonly string[]): boolean {
    return works.some((one) => one.card === card && effects.includes(one.effect));
  }

  /** The newest effect of a card is undone first, unless it came after the press. */
  #checkOrder(run: CodeRun, work: Work, since: number): void {
    for (const effect of run.order.slice(run.order.indexOf(work.effect) + 1)) {
      const later = this.#workOf(effect)?.work;
      if (later === undefined || later.card !== work.card || !this.canUndo(effect)) continue;
      const [first] = later.begun;
      if (first === undefined) continue;
      const isOpen = first.at + run.plan.workMs >= since;
      // Of calls that worked at the same time, none is the newest.
      const isBeside = first.at <= Math.max(...work.begun.map(({ at }) => at)) + run.plan.workMs;
      if (later.reverted.length === 0 && !isOpen && !isBeside && !this.#wasCut(run, later))
        this.#fail(`${work.effect} is undone before ${effect}, which came after it`);
    }
  }

  /** Whether a process died before the end of an effect was stored everywhere. */
  #wasCut({ plan }: CodeRun, { begun }: Work): boolean {
    return begun.some(({ at, life }) => life.diedAt < at + plan.workMs + SETTLED_MS);
  }

  /** Whether somebody has asked for a run, or may have agreed to a call of it. */
  mayUndo(run: CodeRun, person: string): boolean {
    if (run.requester === person) return true;
    return [...this.presses.values()].some(
      (press) =>
        press.turn === run.turn &&
        press.person === person &&
        press.label === "Approve" &&
        mayDecide(run.plan, person),
    );
  }

  rollsBack(run: CodeRun): void {
    run.rolledBackAt ??= this.#options.now();
  }

  pressed(actionId: string, press: Omit<CodePress, "notices" | "at">): void {
    this.presses.set(actionId, { ...press, at: this.#options.now(), notices: [] });
  }

  /** A person is told what became of a press. */
  answered(actionId: string, notice: string | undefined): void {
    const press = this.presses.get(actionId);
    if (press === undefined) return;
    press.notices.push(notice);
    const { effect = "", label, person, turn } = press;
    const run = this.runsByTurn.get(turn);
    const work = this.#workOf(effect)?.work;
    if (run === undefined) return;
    if (label === "Undo") {
      const isStranger = notice?.startsWith("Only the person who asked") === true;
      this.figures[isStranger ? "undoBystanders" : "undoPresses"] += 1;
      if (isStranger && run.requester === person)
        this.#fail(`${person} asked for ${press.effects.join()}, and is told to have no right to undo it`);
      return;
    }
    if (notice !== "Approved." && notice !== "Rejected.") return;
    if (!mayDecide(run.plan, person))
      this.#fail(`${person} is told ${JSON.stringify(notice)} of ${effect}, and may not decide`);
    if (notice === "Approved.") {
      this.figures.codeApproved += 1;
      work?.approvedBy.add(person);
    } else {
      this.figures.codeRejected += 1;
      if (work !== undefined) work.isRejected = true;
      if ((work?.begun.length ?? 0) > 0) this.#fail(`${effect} has happened, and is rejected`);
    }
  }

  #workOf(effect: string): { readonly run: CodeRun; readonly work: Work } | undefined {
    const [, turn, index] = WORK.exec(effect) ?? [];
    const run = this.runsByTurn.get(Number(turn));
    const work = run?.works[Number(index)];
    return run === undefined || work === undefined ? undefined : { run, work };
  }

  #fail(message: string): void {
    this.#options.fail("I9", message);
  }
}

/** Whether somebody may decide about a call. */
function mayDecide({ approvers }: PlannedCode, person: string): boolean {
  return approvers === "anyone" || person === "7";
}
