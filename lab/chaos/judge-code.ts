import type { Simulator } from "../../playground/telegram/simulator.ts";
import { CALLS, effectOf, endsOf } from "./coders.ts";
import type { Coder, Job } from "./coders.ts";
import type { Effects } from "./effects.ts";
import { MARK } from "./judge.ts";
import { answerTo } from "./pressers.ts";

/** Results for runs of code, read from the chats, the answers to presses and the outside world alone. */
export interface CodeJudgement {
  /** Runs that people asked for, those to which somebody agreed, and those whose end is told. */
  jobs: number;
  agreed: number;
  told: number;
  /** Effects in the outside world, and those of them that were undone. */
  effects: number;
  undone: number;
  /** Effects and undos that nobody wanted, or in the wrong order. */
  unwanted: number;
  /** Requests of an effect or of an undo that were made again without a kill. */
  repeated: number;
  /** Runs to which somebody agreed, and whose effects or end are missing. */
  missing: number;
  /** Ends that are told twice. */
  twice: number;
  /** One sentence for each problem. */
  readonly problems: string[];
}

export interface JudgedCode {
  readonly simulator: Simulator;
  readonly coders: readonly Coder[];
  readonly effects: Effects;
  /** Times of the kills, in epoch milliseconds. */
  readonly killedAt: readonly number[];
}

export function judgeCode(judged: JudgedCode): CodeJudgement {
  const total: CodeJudgement = {
    jobs: 0,
    agreed: 0,
    told: 0,
    effects: 0,
    undone: 0,
    unwanted: 0,
    repeated: 0,
    missing: 0,
    twice: 0,
    problems: [],
  };
  for (const coder of judged.coders) for (const job of coder.jobs) judgeJob(total, judged, coder, job);
  return total;
}

/** Whether a person was told that the consent counts. */
export function isAgreed(simulator: Simulator, { presses }: Job): boolean {
  return presses.some(
    ({ label, queryId }) =>
      label === "Approve" && answerTo(simulator, queryId)?.startsWith("Approved.") === true,
  );
}

function judgeJob(total: CodeJudgement, judged: JudgedCode, coder: Coder, job: Job): void {
  const { effects, killedAt, simulator } = judged;
  const fail = (kind: "unwanted" | "repeated" | "missing" | "twice", words: string): void => {
    total[kind] += 1;
    total.problems.push(`${job.cue}: ${words}`);
  };
  total.jobs += 1;
  const made = CALLS.map((place) => effects.made(effectOf(job, place)));
  const undone = CALLS.map((place) => effects.undone(effectOf(job, place)));
  total.effects += made.filter(({ length }) => length > 0).length;
  total.undone += undone.filter(({ length }) => length > 0).length;
  const hasPressed = (label: string): boolean =>
    job.presses.some((press) => press.label === label && press.userId === coder.userId);
  const isPaid = (made[1]?.length ?? 0) > 0;
  if (isPaid && !hasPressed("Approve")) fail("unwanted", "paid, and nobody has agreed");
  if ((made[2]?.length ?? 0) > 0 && !isPaid) fail("unwanted", "the last call came before the second one");
  if (undone.some(({ length }) => length > 0) && !hasPressed("Undo"))
    fail("unwanted", "undone, and nobody wanted that");
  const [, undonePay = [], undoneLast = []] = undone;
  const [first = Infinity] = undoneLast;
  if (undonePay.some((at) => at < first) && made[2] !== undefined && made[2].length > 0)
    fail("unwanted", "the second call was undone before the last one");
  for (const times of [...made, ...undone])
    for (const [index, at] of times.entries()) {
      const before = times[index - 1];
      const isKilled = before === undefined || killedAt.some((kill) => kill >= before - 1_000 && kill <= at);
      if (!isKilled) fail("repeated", "an effect is made again, and nothing was killed");
    }
  const ends = endsOf(simulator, coder, job).filter(({ text }) => !text.startsWith(MARK));
  if (ends.length > 0) total.told += 1;
  if (ends.length > 1) fail("twice", `its end is told ${ends.length} times`);
  if (!isAgreed(simulator, job)) return;
  total.agreed += 1;
  if (made.some(({ length }) => length === 0))
    fail("missing", "somebody has agreed, and an effect is missing");
  if (ends.length === 0) fail("missing", "somebody has agreed, and the end is not told");
}
