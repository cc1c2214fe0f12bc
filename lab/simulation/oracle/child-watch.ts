import { isWaitingResult } from "../../../src/actions/declare/action-errors.ts";
import type { Life } from "../machine/life.ts";
import type { ChildItem } from "../plan/child-items.ts";
import type { Plan } from "../plan/plan.ts";
import type { Invariant, StoredOperation, SurfaceCall } from "./contract.ts";

export type PlannedChild = Extract<ChildItem, { kind: "child" }>;

/** Counts that prove that these cases occur. */
export interface ChildFigures {
  /** Tasks that were given to other agents. */
  tasks: number;
  /** Calls of these agents with an effect, and those that began again after a death. */
  taskCalls: number;
  taskCallsAgain: number;
  /** Their answers that the model got: as the result of its call, and in a turn of their own. */
  taskAnswers: number;
  taskOutcomes: number;
  /** Tasks that were stopped. */
  tasksStopped: number;
  /** Presses that agreed to a call of such an agent, or refused it, and those of people who were not asked. */
  tasksDecided: number;
  taskBystanders: number;
}

export const NO_CHILDREN: Readonly<ChildFigures> = {
  tasks: 0,
  taskCalls: 0,
  taskCallsAgain: 0,
  taskAnswers: 0,
  taskOutcomes: 0,
  tasksStopped: 0,
  tasksDecided: 0,
  taskBystanders: 0,
};

export function childRows(figures: ChildFigures): readonly (readonly [string, number])[] {
  return [
    ["tasks for other agents", figures.tasks],
    ["calls of these agents", figures.taskCalls],
    ["calls of these agents after a crash", figures.taskCallsAgain],
    ["answers of theirs in the same turn", figures.taskAnswers],
    ["answers of theirs in a turn of its own", figures.taskOutcomes],
    ["tasks that were stopped", figures.tasksStopped],
    ["presses that decided for them", figures.tasksDecided],
    ["presses of people whom they did not ask", figures.taskBystanders],
  ];
}

interface Effect {
  readonly effect: string;
  readonly asks: boolean;
  readonly begun: Life[];
  isRejected: boolean;
}

export interface Task {
  readonly number: number;
  readonly plan: PlannedChild;
  readonly threadId: string;
  readonly operation: StoredOperation;
  readonly effects: readonly Effect[];
  /** Whether the model got the answer as the result of its call. */
  isAnswered: boolean;
}

interface ChildPress {
  readonly effect: string;
  readonly label: string;
  readonly person: string;
  readonly notices: (string | undefined)[];
}

export interface ChildWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly items: Plan["items"];
}

const TASK = /\btask(\d+)(?:x(\d+))?\b/;

/**
 * Knows the effects of other agents in the outside world, and their answers. Each call of such an agent has its effect
 * once, after the person who has asked has agreed if it asks, and never after the end of its run. Its answer reaches the
 * conversation that has asked, once, and no other one (I9, I11).
 */
export class ChildWatch {
  readonly figures: ChildFigures = { ...NO_CHILDREN };
  readonly tasks = new Map<number, Task>();
  /** Tells whether the run of a task is over, as the object that has begun it knows. */
  isOver: (task: Task) => boolean = () => false;
  readonly #options: ChildWatchOptions;
  readonly #presses = new Map<string, ChildPress>();
  /** The people who have written the messages. */
  readonly #authors = new Map<string, string | undefined>();

  constructor(options: ChildWatchOptions) {
    this.#options = options;
  }

  wrote(token: string, userId: string | undefined): void {
    this.#authors.set(token, userId);
  }

  /** The task that is planned for the answer to some messages. */
  planned(tokens: readonly string[]): PlannedChild | undefined {
    return this.#options.items.find(
      (item): item is PlannedChild => item.kind === "child" && tokens.includes(item.token),
    );
  }

  planOf(task: number): PlannedChild | undefined {
    return this.tasks.get(task)?.plan;
  }

  /** Words of the agent at the end of a task. */
  answerOf(task: number): string {
    return `The answer of task${task}.`;
  }

  /** The person who has asked for a task. Undefined if several have, or nobody knows. */
  requesterOf({ operation: { questions } }: Task): string | undefined {
    const people = new Set(questions.map((token) => this.#authors.get(token)));
    return people.size === 1 ? [...people][0] : undefined;
  }

  /** The number of tasks of a thread that can ask. To stop one outside of its turn is said by the card of its question. */
  askingIn(threadId: string): number {
    return [...this.tasks.values()].filter((task) => task.threadId === threadId && !task.plan.isDetached)
      .length;
  }

  newestOf(token: string): Task | undefined {
    return [...this.tasks.values()].findLast(({ plan }) => plan.token === token);
  }

  /** A turn gives a task to an agent, for the first time or again after a crash. */
  begins(plan: PlannedChild, number: number, operation: StoredOperation): void {
    if (this.tasks.has(number)) return;
    this.figures.tasks += 1;
    const effects = plan.asks.map((asks, index): Effect => ({
      effect: `task${number}x${index}`,
      asks,
      begun: [],
      isRejected: false,
    }));
    const { threadId } = operation;
    this.tasks.set(number, { number, plan, threadId, operation, effects, isAnswered: false });
  }

  /** The model gets the result of its call. */
  result(number: number, output: unknown): void {
    const task = this.tasks.get(number);
    if (task === undefined || isWaitingResult(output) || task.plan.isDetached) return;
    if (typeof output !== "string") return;
    if (output !== this.answerOf(number))
      this.#fail("I11", `the call of task${number} gets ${JSON.stringify(output)}`);
    // A turn that goes on after a crash gets it again.
    if (!task.isAnswered) this.figures.taskAnswers += 1;
    task.isAnswered = true;
  }

  /** A turn begins that tells the end of a task. */
  onOutcome(number: number, threadId: string, text: string): void {
    const task = this.tasks.get(number);
    this.figures.taskOutcomes += 1;
    if (task === undefined)
      return this.#fail("I9", `the model is told of task${number}, which nobody has given`);
    if (task.threadId !== threadId)
      this.#fail("I11", `task${number} of ${task.threadId} is told in ${threadId}`);
    if (task.isAnswered) this.#fail("I9", `the answer of task${number} is told again`);
    for (const [, other] of text.matchAll(/The answer of task(\d+)\./g))
      if (Number(other) !== number) this.#fail("I11", `task${number} is told the answer of task${other}`);
  }

  /** The work of an agent's call begins, and has its effect at once. */
  runs(effect: string, person: string | undefined, life: Life): void {
    const [, number, index] = TASK.exec(effect) ?? [];
    const task = this.tasks.get(Number(number));
    const found = task?.effects[Number(index)];
    if (task === undefined || found === undefined)
      return this.#fail("I9", `${effect} happens, and nobody has given the task`);
    const isFirst = found.begun.length === 0;
    this.figures[isFirst ? "taskCalls" : "taskCallsAgain"] += 1;
    if (!isFirst && task.plan.repeats !== "keyed") this.#fail("I9", `${effect} happens again`);
    if (found.begun.some(({ isDead }) => !isDead))
      this.#fail("I9", `${effect} happens again, and no process had died`);
    found.begun.push(life);
    if (this.isOver(task)) this.#fail("I9", `${effect} happens, and its run is over`);
    if (found.isRejected) this.#fail("I9", `${effect} happens, and somebody was told that it does not`);
    if (task.effects.some((other) => other.isRejected))
      this.#fail("I9", `${effect} happens, and a call of its agent was refused`);
    const requester = this.requesterOf(task);
    if (requester !== undefined && person !== requester)
      this.#fail("I9", `${effect} happens for ${person}, and ${requester} has asked for it`);
    if (!found.asks) return;
    const isAgreed = [...this.#presses.values()].some(
      (press) =>
        press.effect === effect &&
        press.label === "Approve" &&
        (requester === undefined || press.person === requester),
    );
    if (!isAgreed) this.#fail("I9", `${effect} happens, and nobody who was asked has agreed`);
  }

  pressed(actionId: string, press: Omit<ChildPress, "notices">): void {
    this.#presses.set(actionId, { ...press, notices: [] });
  }

  /** A person is told what became of a press. */
  answered(actionId: string, notice: string | undefined): void {
    const press = this.#presses.get(actionId);
    if (press === undefined) return;
    press.notices.push(notice);
    if (notice?.startsWith("This question is for somebody else") === true) this.figures.taskBystanders += 1;
    // Other answers are words.
    if (notice !== undefined) return;
    this.figures.tasksDecided += 1;
    this.#decided(press);
  }

  /** Of the presses that were taken, the first one of the person who was asked decides. */
  #decided({ effect, label, person }: ChildPress): void {
    const [, number, index] = TASK.exec(effect) ?? [];
    const task = this.tasks.get(Number(number));
    const found = task?.effects[Number(index)];
    if (task === undefined || found === undefined || label !== "Reject") return;
    const isApproved = [...this.#presses.values()].some(
      (press) => press.effect === effect && press.label === "Approve" && press.notices.includes(undefined),
    );
    if (!isApproved && this.requesterOf(task) === person) found.isRejected = true;
  }

  /** Nothing about a task shows in another chat. */
  onCall({ address, content, number }: SurfaceCall): void {
    for (const [, of] of (content?.text ?? "").matchAll(new RegExp(TASK, "g"))) {
      const task = this.tasks.get(Number(of));
      if (task !== undefined && task.threadId !== address.threadId)
        this.#fail("I11", `call #${number} shows task${of} of ${task.threadId} in ${address.threadId}`);
    }
  }

  #fail(invariant: Invariant, message: string): void {
    this.#options.fail(invariant, message);
  }
}
