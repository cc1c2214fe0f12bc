import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { partsOf } from "../../../lab/simulation/oracle/mode-rules.ts";
import { isMarked, stripMark } from "../../../lab/simulation/oracle/visible-text.ts";
import { DRAFT_LASTS_MS } from "../../../lab/simulation/platform/platform.ts";
import { captureLog } from "../support/log-lines.ts";
import type { ScheduleDefect } from "./faulty-surface.ts";
import { ALARMS_AFTER_MS, createSchedule } from "./schedule.ts";
import type { Schedule, Step } from "./schedule.ts";
import { ScheduleWorld } from "./schedule-world.ts";
import type { Answer } from "./schedule-world.ts";

/*
 * The schedules of the simulation, in small, where the runtime's own parts matter: the real object with its storage,
 * the turn engine, the jobs behind its alarm, and deaths by `abort`. Time is a faked `Date`, which starts a day ahead,
 * so that no alarm of the runtime's own fires by itself.
 */

const SEEDS = Array.from({ length: 28 }, (_, index) => index + 1);
const MINUTE_MS = 60 * 1_000;
const HOUR_S = 60 * 60;
const HOUR_MS = HOUR_S * 1_000;
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

  it("has deaths and faults, and every mode, in it", () => {
    const schedules = SEEDS.map((seed) => createSchedule(seed));
    const steps = schedules.flatMap((schedule) => schedule.steps);
    for (const mode of ["edit", "draft", "native", "buffered", "final-only"]) {
      expect(schedules.filter((schedule) => schedule.mode === mode).length).toBeGreaterThan(1);
    }
    expect(steps.filter(({ kind }) => kind === "kill").length).toBeGreaterThan(SEEDS.length);
    expect(steps.filter(({ kind }) => kind === "fault").length).toBeGreaterThan(SEEDS.length);
  });

  it.each<[string, ScheduleDefect, readonly Schedule["mode"][], string]>([
    ["a post without an answer that counts as not made", "blind", ["edit", "draft"], "another text"],
    ["a draft that is shown after its message", "late-draft", ["draft"], "a draft after"],
    ["a stream that is never ended", "open-stream", ["native"], "still streamed"],
  ])(
    "shows a defect: %s",
    async (_name, defect, modes, expected) => {
      const seeds = SEEDS.filter((seed) => modes.includes(createSchedule(seed).mode));
      const problems: (string | undefined)[] = [];
      for (const seed of seeds) {
        const { problem } = await play(seed, defect);
        problems.push(problem);
        if (problem !== undefined) break;
      }
      expect(problems.at(-1)).toContain(expected);
    },
    60_000,
  );
});

describe("time in workerd", () => {
  const chat = "11";
  const write: Step = { kind: "write", chat, isQuick: false };
  const worldOf = (mode: Schedule["mode"]): ScheduleWorld =>
    new ScheduleWorld({ seed: 6, chats: [chat], interruptedStep: "restart", mode, steps: [] }, undefined, 40);

  it("shows a draft again before it passes while the model is silent, and never after the message", async () => {
    const world = worldOf("draft");
    const { platform, calls } = world.line;
    const drafts = (): number => calls.filter(({ method }) => method === "draft").length;
    await world.play([write]);
    await world.until(() => world.answers.length > 0);
    await world.play([{ kind: "speak" }, { kind: "pass", ms: 1_200 }]);
    await world.until(() => drafts() > 0);
    const before = drafts();
    for (let passed = 0; passed < 5 * DRAFT_LASTS_MS; passed += ALARMS_AFTER_MS) {
      await world.play([{ kind: "pass", ms: ALARMS_AFTER_MS }]);
      await world.until(() => platform.draft(`fake:${chat}`) !== undefined);
    }
    expect(drafts()).toBeGreaterThan(before + 3);
    expect(await world.finish()).toEqual([]);
    expect(problemOf(world, chat)).toBeUndefined();
    await world.play([{ kind: "pass", ms: 2 * DRAFT_LASTS_MS }]);
    expect(platform.draft(`fake:${chat}`)).toBeUndefined();
  });

  it.each(["edit", "native", "final-only"] as const)(
    "keeps to a penalty of hours by one alarm, over a death (%s)",
    async (mode) => {
      const world = worldOf(mode);
      const { platform, calls } = world.line;
      await world.play([write, { kind: "fault", fault: { kind: "flood", retryAfterS: 3 * HOUR_S } }]);
      const startedAt = Date.now();
      /** A few wake-ups after its turn, and then none until the end of the penalty. */
      const comesToRest = async (): Promise<void> => {
        for (let wakes = 0; ((await world.wakesAt(chat)) ?? 0) < Date.now() + MINUTE_MS; wakes += 1) {
          expect(wakes).toBeLessThan(4);
          await world.play([{ kind: "pass", ms: 6_000 }]);
        }
        expect(await world.wakesAt(chat)).toBeGreaterThan(startedAt + 2.9 * HOUR_MS);
        expect(calls.length).toBe(1);
      };
      await world.speakOut(chat);
      await world.until(() => calls.length > 0);
      await comesToRest();
      await world.play([
        { kind: "pass", ms: HOUR_MS },
        { kind: "kill", victim: "thread", chat },
        { kind: "kill", victim: "root", chat },
        { kind: "pass", ms: HOUR_MS },
      ]);
      await comesToRest();
      await world.play([{ kind: "pass", ms: HOUR_MS }]);
      expect(await world.finish()).toEqual([]);
      expect(problemOf(world, chat)).toBeUndefined();
      expect(platform.penaltyBreaches).toBe(0);
      expect(platform.visible(`fake:${chat}`).length).toBeGreaterThan(0);
    },
  );
});

async function play(
  seed: number,
  defect?: ScheduleDefect,
): Promise<{ world: ScheduleWorld; problem?: string }> {
  const schedule = createSchedule(seed);
  const world = new ScheduleWorld(schedule, defect);
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
  const calls = world.line.calls.filter(({ address }) => address.chatId === chat);
  if (calls.at(-1)?.method === "draft") return `${chat} is shown a draft after the last message`;
  // One whose beginning was lost is nobody's.
  const streamed = visible.filter(({ isStreaming }) => isStreaming).length;
  if (streamed > visible.filter(({ text }) => isMarked(text)).length)
    return `${chat} has a message that is still streamed`;
  const texts = visible.map(({ text }) => stripMark(text));
  const written = world.written.filter((message) => message.chat === chat).map(({ token }) => token);
  // Every answer has words that only it has; an answer that was restarted is void.
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
