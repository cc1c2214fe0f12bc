import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { partsOf } from "../../simulation/mode-rules.ts";
import { isMarked, stripMark } from "../../simulation/visible-text.ts";
import { captureLog } from "../support/log-lines.ts";
import { createSchedule } from "./schedule.ts";
import { ScheduleWorld } from "./schedule-world.ts";
import type { Answer } from "./schedule-world.ts";

/*
 * The schedules of the simulation, in small, where the runtime's own parts matter: the real object with its storage,
 * the turn engine, the jobs behind its alarm, and deaths by `abort`. Time is a faked `Date`, which starts a day ahead,
 * so that no alarm of the runtime's own fires by itself.
 */

const SEEDS = Array.from({ length: 36 }, (_, index) => index + 1);
const DAY_MS = 24 * 60 * 60 * 1_000;

beforeEach(() => {
  captureLog();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + DAY_MS });
});
afterEach(() => void vi.useRealTimers());

describe("a schedule of deaths and faults in workerd", () => {
  it.each(SEEDS)("answers every message whole, once and in order: %i", async (seed) => {
    const { world, problem } = await play(seed);
    expect(problem).toBeUndefined();
    expect(await world.restart()).toBe(0);
  });

  it("has deaths and faults in it", () => {
    const steps = SEEDS.flatMap((seed) => createSchedule(seed).steps);
    expect(steps.filter(({ kind }) => kind === "kill").length).toBeGreaterThan(SEEDS.length);
    expect(steps.filter(({ kind }) => kind === "fault").length).toBeGreaterThan(SEEDS.length);
  });

  it("shows a defect: a post without an answer that counts as not made", async () => {
    const problems: (string | undefined)[] = [];
    for (const seed of SEEDS) {
      const { problem } = await play(seed, true);
      problems.push(problem);
      if (problem !== undefined) break;
    }
    expect(problems.at(-1)).toContain("another text");
  });
});

async function play(seed: number, isBlind = false): Promise<{ world: ScheduleWorld; problem?: string }> {
  const schedule = createSchedule(seed);
  const world = new ScheduleWorld(schedule, isBlind);
  await world.run();
  const open = await world.finish();
  if (open.length > 0) return { world, problem: `Not at its end: ${open.join(", ")}` };
  for (const chat of schedule.chats) {
    const problem = problemOf(world, chat);
    if (problem !== undefined) return { world, problem };
  }
  return { world };
}

/** What a person in the chat would complain of. */
function problemOf(world: ScheduleWorld, chat: string): string | undefined {
  const visible = world.line.platform.visible(`fake:${chat}`);
  const texts = visible.map(({ text }) => stripMark(text));
  const written = world.written.filter((message) => message.chat === chat).map(({ token }) => token);
  // Every answer has words that only it has; an answer that was begun anew is void.
  const answerOf = (text: string): Answer | undefined =>
    world.answers[Number(/\ba(\d+)w\d+z\b/.exec(text)?.[1] ?? "-1")];
  const isVoid = (answer: Answer): boolean =>
    world.answers.some(
      (later, at) =>
        at > world.answers.indexOf(answer) &&
        later.chat === chat &&
        later.text !== answer.text &&
        later.questions.some((question) => answer.questions.includes(question)),
    );
  const shown = [...new Set(texts.flatMap((text) => answerOf(text) ?? []))].filter(
    (answer) => !isVoid(answer),
  );
  const expected = shown
    .flatMap(({ text }) => partsOf(text, "telegram", true))
    .map(({ content }) => content.text);
  const story = (): string => `${JSON.stringify(visible)} of ${JSON.stringify(world.answers)}`;
  const answered = shown.flatMap(({ questions }) => questions);
  if (answered.join() !== written.join()) {
    return `${chat} answers ${answered.join()} instead of ${written.join()}: ${story()}`;
  }
  // Beside a marked message the lost one may stand, as it was.
  const marked = visible.filter(({ text }) => isMarked(text)).length;
  const kept = marked === 0 ? texts : expected.filter((text) => texts.includes(text));
  if (kept.join("|") === expected.join("|") && texts.length <= expected.length + marked) return undefined;
  return `${chat} shows another text than ${JSON.stringify(expected)}: ${story()}`;
}
