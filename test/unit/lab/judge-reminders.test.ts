import { expect, it } from "vitest";
import { judgeReminders } from "../../../lab/chaos/judge-reminders.ts";
import type { DigestRow, ReminderJudgement } from "../../../lab/chaos/judge-reminders.ts";
import { MARK } from "../../../lab/chaos/judge.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";

const NOON = Date.UTC(2026, 10, 22, 12, 0, 20);
const rowsAt = (...minutes: number[]): DigestRow[] =>
  minutes.map((minute) => ({ state: "delivered", scheduledFor: NOON + minute * 60_000 }));
const digest = (minute: number): string => `digest of Sun 2026-11-22 12:0${minute}, whole`;
const CONFIRMED = "I'll remind you: r1n0\n\nNext: soon";

function judged(texts: readonly string[], rows: readonly DigestRow[] = []): Partial<ReminderJudgement> {
  const simulator = {
    messages: () => texts.map((text, id) => ({ text, id, from: { isBot: true } })),
  } as unknown as Simulator;
  const person = { name: "Rita", chat: { id: 1 } as SimChat, userId: 1, cues: ["r1n0"] };
  const { asked, problems, ...counts } = judgeReminders(simulator, [person], rows);
  expect(asked).toBe(1);
  const { missing, twice, unexplained } = counts;
  expect(problems.length).toBe(missing + twice + (unexplained > 0 ? 1 : 0));
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

it.each<[string, Partial<ReminderJudgement>, readonly string[], (readonly DigestRow[])?]>([
  ["nothing where a request came to nothing", {}, []],
  ["nothing where a reminder came once", { reminders: 1 }, [CONFIRMED, "⏰ r1n0"]],
  ["that a confirmed reminder is missing", { reminders: 1, missing: 1 }, [CONFIRMED]],
  ["that a reminder came twice", { reminders: 1, twice: 1 }, [CONFIRMED, "⏰ r1n0", "⏰ r1n0"]],
  ["nothing of a marked repetition", { reminders: 1 }, [CONFIRMED, "⏰ r1n0", `${MARK}\n⏰ r1n0`]],
  ["nothing where each digest is there", { digests: 2 }, [digest(0), digest(1)], rowsAt(0, 1)],
  ["that a digest is missing", { digests: 1, missing: 1 }, [], rowsAt(0)],
  ["that a digest came twice", { digests: 1, twice: 1 }, [digest(0), digest(0)], rowsAt(0)],
  ["that digests have no row", { digests: 2, unexplained: 2 }, [digest(0), digest(3)], rowsAt(0, 3)],
  [
    "nothing of digests that were missed, and whose row says so",
    { digests: 1, skipped: 1 },
    [digest(3)],
    [{ state: "skipped", code: "missed", scheduledFor: NOON }, ...rowsAt(3)],
  ],
])("says %s", (_what, expected, texts, rows) => {
  expect(judged(texts, rows)).toEqual(expected);
});
