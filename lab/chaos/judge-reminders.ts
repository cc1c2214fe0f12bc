import type { Simulator, VisibleMessage } from "../../playground/telegram/simulator.ts";
import { MARK } from "./judge.ts";
import { digestOf } from "./reminders.ts";
import type { Reminded } from "./reminders.ts";

/** One occurrence of the digest, as the bot lists it. */
export interface DigestRow {
  readonly state: string;
  readonly scheduledFor: number;
  readonly code?: string;
}

/** Results for reminders and digests, read from the chats, and from the bot's list of occurrences. */
export interface ReminderJudgement {
  /** Reminders that people have asked for. A request that a kill has cut may come to nothing. */
  asked: number;
  /** Reminders that the bot has confirmed, and digests that it counts as delivered, in all chats. */
  reminders: number;
  digests: number;
  /** Digests that the bot has left out, and says so: they were due while it was dead. */
  skipped: number;
  /** Confirmed reminders and delivered digests that nobody sees. */
  missing: number;
  /** Those that are visible twice without saying so. */
  twice: number;
  /** Digests between the first and the last one that no row names. */
  unexplained: number;
  readonly problems: string[];
}

const MINUTE_MS = 60_000;

export function judgeReminders(
  simulator: Simulator,
  people: readonly Reminded[],
  rows: readonly DigestRow[],
): ReminderJudgement {
  const total: ReminderJudgement = {
    asked: people.reduce((sum, { cues }) => sum + cues.length, 0),
    reminders: 0,
    digests: 0,
    skipped: rows.filter(({ state }) => state === "skipped").length,
    missing: 0,
    twice: 0,
    unexplained: 0,
    problems: [],
  };
  const isSeen = (chat: readonly VisibleMessage[], words: string, what: string): void => {
    const shown = chat.filter(({ text }) => text.includes(words));
    const unmarked = shown.filter(({ text }) => !text.startsWith(MARK));
    if (shown.length === 0) {
      total.missing += 1;
      total.problems.push(`${what}: missing`);
    } else if (unmarked.length > 1) {
      total.twice += 1;
      total.problems.push(`${what}: visible ${shown.length} times`);
    }
  };
  for (const { chat, cues, name } of people) {
    const messages = simulator.messages(chat).filter(({ from }) => from.isBot);
    for (const cue of cues) {
      const isConfirmed = messages.some(({ text }) => text.includes(`I'll remind you: ${cue}`));
      const isThere = messages.some(({ text }) => text.includes(`⏰ ${cue}`));
      // A request whose process was killed may have come to nothing, and then nothing confirms it.
      if (!isConfirmed && !isThere) continue;
      total.reminders += 1;
      isSeen(messages, `⏰ ${cue}`, `${name}: reminder ${cue}`);
    }
    for (const { scheduledFor, state } of rows) {
      if (state !== "delivered") continue;
      total.digests += 1;
      isSeen(messages, digestOf(dueIn(scheduledFor)), `${name}: digest of ${dueIn(scheduledFor)}`);
    }
  }
  countUnexplained(rows, total);
  return total;
}

/** Earlier occurrences that were missed leave one row for all of them, and the latest one runs. */
function countUnexplained(rows: readonly DigestRow[], total: ReminderJudgement): void {
  const sorted = rows.toSorted((a, b) => a.scheduledFor - b.scheduledFor);
  for (const [index, { code, scheduledFor }] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next === undefined || code === "missed") continue;
    const left = Math.round((next.scheduledFor - scheduledFor) / MINUTE_MS) - 1;
    if (left <= 0) continue;
    total.unexplained += left;
    total.problems.push(`${left} digests after that of ${dueIn(scheduledFor)} have no row`);
  }
}

/** As the question of a scheduled task writes it: `Sun 2026-11-22 12:10`. */
function dueIn(at: number): string {
  const day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][new Date(at).getUTCDay()] ?? "";
  const text = new Date(at).toISOString();
  return `${day} ${text.slice(0, 10)} ${text.slice(11, 16)}`;
}
