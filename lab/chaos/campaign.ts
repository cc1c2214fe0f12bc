import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { realFloodRules } from "../../playground/telegram/control/flood.ts";
import type { FaultRule } from "../../playground/telegram/control/faults.ts";
import type { VisibleMessage } from "../../playground/telegram/simulator.ts";
import { startRig } from "../support/rig.ts";
import type { Rig } from "../support/rig.ts";
import { lastUserText } from "../support/scripted-model.ts";
import { createRandom } from "../support/random.ts";
import type { Random } from "../support/random.ts";
import { describeCalls } from "./describe-calls.ts";
import { isAnswered, judge, strays } from "./judge.ts";
import { judgeCards } from "./judge-cards.ts";
import type { CardJudgement } from "./judge-cards.ts";
import type { Judgement } from "./judge.ts";
import { countCallsInPenalty } from "./penalty-count.ts";
import type { PenaltyCount } from "./penalty-count.ts";
import { askFor, createPressers, isServed, press } from "./pressers.ts";
import type { Presser } from "./pressers.ts";
import { askToRun, codingAnswer, createCoders, endsOf, pressAbout } from "./coders.ts";
import type { Coder } from "./coders.ts";
import { startEffects } from "./effects.ts";
import type { Effects } from "./effects.ts";
import { isAgreed, judgeCode } from "./judge-code.ts";
import type { CodeJudgement } from "./judge-code.ts";
import { judgeReminders } from "./judge-reminders.ts";
import type { DigestRow, ReminderJudgement } from "./judge-reminders.ts";
import { askToRemind, createReaders, createReminded, remindingAnswer } from "./reminders.ts";
import type { Reminded } from "./reminders.ts";
import { answerTo, createWriters } from "./writers.ts";
import type { Writer } from "./writers.ts";

export interface CampaignOptions {
  readonly kills: number;
  readonly seed: number;
  /** Time after which no more kills are made, in milliseconds. */
  readonly limitMs: number;
  readonly onProgress: (line: string) => void;
  /** Called at the end with everything that the bot has logged. */
  readonly onLog?: (text: string) => Promise<void>;
  /** Called at the end with one line for each call and each kill, in order. */
  readonly onCalls?: (lines: readonly string[]) => Promise<void>;
}

export interface CampaignResult extends PenaltyCount {
  readonly seed: number;
  readonly kills: number;
  readonly seconds: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly refusedForFlood: number;
  readonly totals: Judgement;
  readonly cards: CardJudgement;
  readonly reminders: ReminderJudgement;
  readonly code: CodeJudgement;
  /** Times from the bot being ready again to its next text in a chat with an open answer, in milliseconds. */
  readonly continuedMs: readonly number[];
  /**
   * Times from the start of the restart to the bot's next text in such a chat, in milliseconds. Includes the start of
   * workerd.
   */
  readonly restartedMs: readonly number[];
}

/** Longest wait for the last answers after the faults have ended. */
const REST_MS = 900_000;
/** Longer than any pause between two calls while there is still something to send. */
const QUIET_MS = 180_000;
/** A writer who has waited this long writes the next message although the answer is missing. */
const PATIENCE_MS = 180_000;

/**
 * Runs a campaign: writers write, calls fail, and the bot's whole process group is killed many times. In the end every
 * chat is read and judged.
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const random = createRandom(`chaos/${options.seed}`);
  const rig = await startRig({
    config: path.join(import.meta.dirname, "bot/wrangler.jsonc"),
    simulator: { flood: realFloodRules, redelivery: { baseMs: 200, maxMs: 2_000 } },
  });
  const effects = await startEffects();
  try {
    return await campaign(rig, effects, random, options);
  } finally {
    await effects.close();
    await rig.close();
  }
}

async function campaign(
  rig: Rig,
  effects: Effects,
  random: Random,
  options: CampaignOptions,
): Promise<CampaignResult> {
  const { simulator, model, bot } = rig;
  const pace = random.fork("model");
  model.script(
    (request) =>
      codingAnswer(request, effects) ??
      remindingAnswer(request, Date.now()) ??
      answerTo(lastUserText(request), () => pace.next()),
  );
  const choices = random.fork("writers");
  const writers = createWriters(simulator, () => choices.next());
  const startedAt = Date.now();
  const continuedMs: number[] = [];
  const restartedMs: number[] = [];
  const life = { isOver: false };
  const pressers = createPressers(simulator);
  const coders = createCoders(simulator);
  const reminded = createReminded(simulator);
  const readers = [...reminded, ...createReaders(simulator)];
  // A digest goes to those who have subscribed before it.
  await simulator.waitFor(
    () => readers.every(({ chat }) => simulator.messages(chat).some(({ from }) => from.isBot)),
    { timeoutMs: QUIET_MS },
  );
  const writing = Promise.all([
    ...writers.map((writer) => keepWriting(rig, writer, random.fork(writer.name), life)),
    ...pressers.map((presser) => keepPressing(rig, presser, random.fork(presser.name), life)),
    ...coders.map((coder) => keepCoding(rig, coder, random.fork(coder.name), life)),
    ...reminded.map((person) => keepReminding(rig, person, random.fork(person.name), life)),
  ]);
  const trouble = Promise.all([
    keepTroubling(rig, writers, random.fork("faults"), life),
    keepSlowing(rig, life),
  ]);

  let kills = 0;
  const killedAt: number[] = [];
  while (kills < options.kills && Date.now() - startedAt < options.limitMs) {
    await delay(beforeKillMs(random, Date.now()));
    const open = writers.filter((writer) => hasOpenAnswer(rig, writer)).map(({ chat }) => chat.id);
    killedAt.push(Date.now());
    await bot.kill("SIGKILL");
    kills += 1;
    const restartAt = Date.now();
    await bot.restart();
    const readyAt = Date.now();
    void watchContinuation(rig, open, readyAt).then((at) => {
      if (at === undefined) return;
      continuedMs.push(at - readyAt);
      restartedMs.push(at - restartAt);
    });
    if (kills % 10 === 0) {
      const asked = writers.reduce((sum, { questions }) => sum + questions.length, 0);
      options.onProgress(
        `${kills} kills, ${asked} messages, ${Math.round((Date.now() - startedAt) / 1_000)} s`,
      );
    }
  }

  life.isOver = true;
  simulator.clearFaults();
  await Promise.all([writing, trouble]);
  simulator.clearFaults();
  options.onProgress("all faults have ended");
  await rest(rig, writers, pressers);
  const digests = await endedDigests(rig);
  await endedCode(rig, coders);
  await confirmedReminders(rig, reminded);
  await options.onLog?.(bot.logs());
  const calls = simulator.calls();
  await options.onCalls?.(describeCalls(calls, killedAt, startedAt));
  return {
    seed: options.seed,
    kills,
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    faults: countFaults(calls),
    calls: calls.length,
    refusedForFlood: calls.filter(({ errorCode }) => errorCode === 429).length,
    ...countCallsInPenalty(calls, killedAt),
    totals: sum(
      writers.map((writer) => ({ writer, judgement: judge(simulator, writer) })),
      strays(simulator, writers),
    ),
    cards: judgeCards(simulator, pressers),
    reminders: judgeReminders(simulator, readers, digests),
    code: judgeCode({ simulator, coders, effects, killedAt }),
    continuedMs: continuedMs.toSorted((left, right) => left - right),
    restartedMs: restartedMs.toSorted((left, right) => left - right),
  };
}

/** Writes, waits for the whole answer or loses patience, pauses, and writes again. */
async function keepWriting(
  rig: Rig,
  writer: Writer,
  random: Random,
  life: { readonly isOver: boolean },
): Promise<void> {
  await delay(random.int(0, 2_000));
  while (!life.isOver) {
    writer.ask();
    const askedAt = Date.now();
    while (!life.isOver && Date.now() - askedAt < PATIENCE_MS && hasOpenAnswer(rig, writer)) await delay(100);
    await delay(random.int(100, 1_500));
  }
}

/** Asks for cards and files, and presses each card up to three times, sometimes without waiting for the answer. */
async function keepPressing(
  { simulator }: Rig,
  presser: Presser,
  random: Random,
  life: { readonly isOver: boolean },
): Promise<void> {
  const served = async (): Promise<void> => {
    const since = Date.now();
    while (!life.isOver && Date.now() - since < PATIENCE_MS && !isServed(simulator, presser))
      await delay(100);
  };
  await delay(random.int(0, 3_000));
  while (!life.isOver) {
    if (random.chance(0.3)) askFor(simulator, presser, "file");
    const cue = askFor(simulator, presser, "card");
    await served();
    for (let times = random.int(1, 3); times > 0 && !life.isOver; times -= 1) {
      press(simulator, presser, cue);
      if (random.chance(0.7)) await served();
    }
    await delay(random.int(500, 4_000));
  }
}

/** Asks for code, agrees to its second call, perhaps twice, waits for its end, and undoes some of it now and then. */
async function keepCoding(
  { simulator }: Rig,
  coder: Coder,
  random: Random,
  life: { readonly isOver: boolean },
): Promise<void> {
  const until = async (isSo: () => boolean): Promise<void> => {
    const since = Date.now();
    while (!life.isOver && Date.now() - since < PATIENCE_MS && !isSo()) await delay(100);
  };
  await delay(random.int(0, 3_000));
  while (!life.isOver) {
    const job = askToRun(simulator, coder);
    const { bystanderId, userId } = coder;
    const press = (label: string, person = userId): boolean =>
      pressAbout(simulator, coder, job, { label, userId: person });
    await until(() => press("Approve"));
    if (random.chance(0.5)) press("Approve");
    await until(() => {
      // A press that a kill has cut is made again.
      if (!isAgreed(simulator, job) && random.chance(0.02)) press("Approve");
      return endsOf(simulator, coder, job).length > 0;
    });
    if (bystanderId !== undefined && random.chance(0.3)) press("Undo", bystanderId);
    if (random.chance(0.5)) press("Undo");
    if (random.chance(0.3)) press("Undo");
    await delay(random.int(500, 3_000));
  }
}

/** Waits until the end of all agreed code is told. Ends if the bot makes no calls any more. */
async function endedCode({ simulator }: Rig, coders: readonly Coder[]): Promise<void> {
  const end = Date.now() + REST_MS;
  const quietMs = (): number => Date.now() - (simulator.calls().at(-1)?.at ?? 0);
  const isMissing = (): boolean =>
    coders.some((coder) =>
      coder.jobs.some((job) => isAgreed(simulator, job) && endsOf(simulator, coder, job).length === 0),
    );
  while (quietMs() < QUIET_MS && Date.now() < end && isMissing()) await delay(1_000);
}

/** Asks for reminders that are due within seconds, so that many are due while the bot is dead. */
async function keepReminding(
  { simulator }: Rig,
  person: Reminded,
  random: Random,
  life: { readonly isOver: boolean },
): Promise<void> {
  while (!life.isOver) {
    await delay(random.int(2_000, 8_000));
    if (!life.isOver) askToRemind(simulator, person, random.int(500, 12_000));
  }
}

/** Returns the occurrences of the digest, once none of them is open. */
async function endedDigests({ bot }: Rig): Promise<readonly DigestRow[]> {
  for (const since = Date.now(); ;) {
    const response = await fetch(`${bot.url}/occurrences`);
    const rows = (await response.json()) as readonly (DigestRow & { readonly endedAt?: number })[];
    const isOver = rows.every(({ endedAt }) => endedAt !== undefined);
    if (isOver || Date.now() - since > QUIET_MS) return rows;
    await delay(500);
  }
}

/**
 * Waits until every confirmed reminder is visible. People ask for more of them than their chats' rate can carry, so some
 * come late. Ends if the bot makes no calls any more.
 */
async function confirmedReminders({ simulator }: Rig, reminded: readonly Reminded[]): Promise<void> {
  const end = Date.now() + REST_MS;
  const quietMs = (): number => Date.now() - (simulator.calls().at(-1)?.at ?? 0);
  const isMissing = (): boolean => judgeReminders(simulator, reminded, []).missing > 0;
  while (quietMs() < QUIET_MS && Date.now() < end && isMissing()) await delay(2_000);
}

function hasOpenAnswer({ simulator }: Rig, writer: Writer): boolean {
  return writer.questions.slice(-2).some((question) => !isAnswered(simulator, writer, question));
}

const METHODS = ["sendMessage", "editMessageText", /./] as const;

/** Makes single calls fail, and sometimes all calls of a chat for a while. */
async function keepTroubling(
  { simulator }: Rig,
  writers: readonly Writer[],
  random: Random,
  life: { readonly isOver: boolean },
): Promise<void> {
  while (!life.isOver) {
    await delay(random.int(800, 3_500));
    const method = METHODS[random.int(0, METHODS.length - 1)] ?? /./;
    const kind = faultOf(random);
    if (random.chance(0.12)) {
      const chat = writers[random.int(0, writers.length - 1)]?.chat;
      if (chat === undefined) continue;
      const remove = simulator.fault({ ...kind, method: /./, chatId: chat.id, times: 20 });
      await delay(random.int(500, 3_000));
      remove();
    } else {
      simulator.fault({ ...kind, method });
    }
  }
}

const DIGEST_EVERY_MS = 60_000;
const SLOW_FROM_MS = 500;
const SLOW_FOR_MS = 6_000;

/** Returns the pause before the next kill. Most digests are killed in the middle of their posts. */
function beforeKillMs(random: Random, now: number): number {
  const digestInMs = DIGEST_EVERY_MS - (now % DIGEST_EVERY_MS);
  if (digestInMs < 11_000 && random.chance(0.8)) return digestInMs + random.int(600, 2_500);
  return random.chance(0.5) ? random.int(300, 2_500) : random.int(4_000, 11_000);
}

/** Makes the platform take its time for every message while a digest is posted, so that a kill meets many posts. */
async function keepSlowing({ simulator }: Rig, life: { readonly isOver: boolean }): Promise<void> {
  while (!life.isOver) {
    const digestInMs = DIGEST_EVERY_MS - (Date.now() % DIGEST_EVERY_MS);
    if (digestInMs > SLOW_FROM_MS) {
      await delay(Math.min(500, digestInMs - SLOW_FROM_MS + 1));
      continue;
    }
    const remove = simulator.fault({ kind: "slow", delayMs: 400, method: "sendMessage", times: 500 });
    await delay(SLOW_FOR_MS);
    remove();
  }
}

function faultOf(random: Random): FaultRule {
  switch (random.int(0, 12)) {
    case 0:
      return { kind: "429", retryAfter: random.int(1, 6) };
    case 2:
      return { kind: "5xx", status: random.chance(0.5) ? 502 : 500 };
    case 3:
    case 1:
      return { kind: "cut-before" };
    case 4:
    case 5:
      return { kind: "cut-after" };
    case 6:
    case 8:
      return { kind: "late", delayMs: random.int(200, 6_000) };
    case 7:
    case 9:
    case 10:
      return { kind: "slow", delayMs: random.int(500, 8_000) };
    default:
      return { kind: "hang", processed: random.chance(0.5) };
  }
}

async function watchContinuation(
  { simulator }: Rig,
  chats: readonly number[],
  since: number,
): Promise<number | undefined> {
  if (chats.length === 0) return undefined;
  const first = (): number | undefined =>
    simulator
      .calls({ method: /^(sendMessage|editMessageText)$/ })
      .find(({ at, chatId }) => at >= since && chatId !== undefined && chats.includes(chatId))?.at;
  for (let waited = 0; waited < 20_000; waited += 50) {
    const at = first();
    if (at !== undefined) return at;
    await delay(50);
  }
  return undefined;
}

/** Waits until everything is answered, or until the bot has been quiet for so long that nothing more will come. */
async function rest(rig: Rig, writers: readonly Writer[], pressers: readonly Presser[]): Promise<void> {
  const end = Date.now() + REST_MS;
  const isDone = (): boolean =>
    pressers.every((presser) => isServed(rig.simulator, presser)) &&
    writers.every((writer) =>
      writer.questions.every((question) => isAnswered(rig.simulator, writer, question)),
    );
  const quietMs = (): number => Date.now() - (rig.simulator.calls().at(-1)?.at ?? 0);
  while (!isDone() && quietMs() < QUIET_MS && Date.now() < end) await delay(500);
  // Remaining removals and edits have a time limit of their own.
  await delay(25_000);
}

function countFaults(
  calls: Rig["simulator"]["calls"] extends (...args: never[]) => infer List ? List : never,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { fault } of calls) if (fault !== undefined) counts[fault] = (counts[fault] ?? 0) + 1;
  return counts;
}

function sum(
  parts: readonly { readonly writer: Writer; readonly judgement: Judgement }[],
  unread: readonly VisibleMessage[],
): Judgement {
  const total: Judgement = {
    questions: 0,
    shown: 0,
    lost: 0,
    truncated: 0,
    duplicated: 0,
    marked: 0,
    leftovers: 0,
    leftoversBelow: 0,
    outOfOrder: 0,
    misplaced: unread.length,
    unformatted: 0,
    interrupted: 0,
    apologies: 0,
    problems: unread.map(
      ({ chatId, id }) => `message ${id} is in chat ${chatId}, outside every conversation`,
    ),
  };
  for (const { writer, judgement } of parts) {
    total.questions += judgement.questions;
    total.shown += judgement.shown;
    total.lost += judgement.lost;
    total.truncated += judgement.truncated;
    total.duplicated += judgement.duplicated;
    total.marked += judgement.marked;
    total.leftovers += judgement.leftovers;
    total.leftoversBelow += judgement.leftoversBelow;
    total.outOfOrder += judgement.outOfOrder;
    total.misplaced += judgement.misplaced;
    total.unformatted += judgement.unformatted;
    total.interrupted += judgement.interrupted;
    total.apologies += judgement.apologies;
    total.problems.push(...judgement.problems.map((problem) => `${writer.name}: ${problem}`));
  }
  return total;
}
