import { z } from "zod";
import {
  checkOptions,
  FLAG,
  FUNCTION,
  NOT_NEGATIVE,
  type OptionRules,
} from "../../core/json/check-options.ts";
import { sayEnglish, type Say } from "../../core/text/bot-texts.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { CheckedTask } from "./check-tasks.ts";
import { nextOccurrence } from "./next-occurrence.ts";
import { parseSchedule } from "./parse-schedule.ts";
import { isTimeZone } from "../../core/time/time-zone.ts";
import { addressSchema, personSchema } from "../../core/chat/stored-address.ts";

/** How people may make schedules in a chat. */
export interface ChatScheduleOptions {
  /** Most schedules of one person in one conversation. @default 20 */
  readonly mostPerPerson?: number;
  /** Most schedules of one conversation. @default 50 */
  readonly mostPerChat?: number;
  /** Least time between two occurrences, in milliseconds. @default 900000, which is 15 minutes */
  readonly leastIntervalMs?: number;
  /** Most tokens that one digest may use in 24 hours. Its next occurrence is then skipped. @default 200000 */
  readonly mostTokensPerDay?: number;
  /** Most money that one digest may use in 24 hours, in the currency of `modelPrices`. @default no limit */
  readonly mostCostPerDay?: number;
  /**
   * Whether the person who made a schedule is asked the questions of its actions (`ctx.confirm`, `choose` and `elicit`),
   * in the chat of the schedule. If not, their answer is `nobody` at once.
   *
   * @default true
   */
  readonly asksMaker?: boolean;
  /**
   * Whether a person may make schedules in a group, and change those of others there. In private chats everybody may.
   *
   * @default everybody may make schedules, and nobody may change those of others
   */
  readonly mayManage?: (person: SchedulePerson, chatId: string) => boolean | Promise<boolean>;
}

const OPTIONS: OptionRules<ChatScheduleOptions> = {
  mostPerPerson: NOT_NEGATIVE,
  mostPerChat: NOT_NEGATIVE,
  leastIntervalMs: NOT_NEGATIVE,
  mostTokensPerDay: NOT_NEGATIVE,
  mostCostPerDay: NOT_NEGATIVE,
  asksMaker: FLAG,
  mayManage: FUNCTION,
};

/**
 * Checks the limits of schedules that people make. A misspelt limit would silently keep its default.
 *
 * @throws {ConfigurationError} `chat-schedules-invalid`
 */
export function checkChatSchedules(settings: boolean | ChatScheduleOptions): void {
  if (typeof settings === "boolean") return;
  checkOptions(settings, OPTIONS, { owner: "chatSchedules", code: "chat-schedules-invalid" });
}

export interface SchedulePerson {
  readonly userId: string;
  readonly fullName?: string | undefined;
  /** Whether it is a chat in whose name somebody writes, such as an anonymous administrator. */
  readonly isChat?: boolean | undefined;
  /** IETF language tag, if the platform tells it. */
  readonly language?: string | undefined;
}

/** A schedule that somebody has made in a chat. Plain JSON. */
export interface ChatSchedule {
  /** Unique in the conversation, and short enough to be said: `#1`. */
  readonly id: string;
  readonly kind: "digest" | "reminder";
  /** The task of a digest for the model, or the text of a reminder. */
  readonly text: string;
  readonly schedule: string;
  readonly timezone: string;
  /** True if the person's zone is not known. The schedule does not depend on it. */
  readonly isZoneUnknown?: boolean | undefined;
  readonly address: Address;
  readonly madeBy: SchedulePerson;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export const chatScheduleSchema = z.object({
  id: z.string(),
  kind: z.enum(["digest", "reminder"]),
  text: z.string(),
  schedule: z.string(),
  timezone: z.string(),
  isZoneUnknown: z.boolean().optional(),
  address: addressSchema,
  madeBy: personSchema,
  createdAt: z.number(),
}) satisfies z.ZodType<ChatSchedule>;

export const CHAT_SCHEDULE_DEFAULTS = {
  mostPerPerson: 20,
  mostPerChat: 50,
  leastIntervalMs: 15 * 60_000,
  mostTokensPerDay: 200_000,
  asksMaker: true,
} as const;

const HOUR_MS = 3_600_000;
/** So many occurrences are looked at for the least interval, which covers every hour and minute of a cron expression. */
const LOOK_AT = 50;

/** Returns the task of a schedule that somebody has made. */
export function taskOf(
  schedule: ChatSchedule,
  { asksMaker, mostCostPerDay, mostTokensPerDay }: ChatScheduleOptions,
): CheckedTask | undefined {
  const parsed = parseSchedule(schedule.schedule, schedule.timezone);
  if ("problem" in parsed) return undefined;
  const { address, id, kind, text } = schedule;
  return {
    id,
    schedule: schedule.schedule,
    kind: parsed.kind,
    rule: parsed.rule,
    zone: parsed.zone ?? schedule.timezone,
    scope: "conversation",
    work:
      kind === "reminder"
        ? { kind: "reminder", text, address }
        : {
            kind: "prompt",
            prompt: text,
            deliverTo: address,
            fanOut: "once",
            source: undefined,
            mostTokensPerDay,
            mostCostPerDay,
          },
    metadata: { madeBy: schedule.madeBy.userId },
    maxAttempts: kind === "reminder" ? 1 : 2,
    // A reminder is better late than never.
    ifLate:
      kind === "reminder"
        ? { runWithinMs: 0, otherwise: "run" }
        : { runWithinMs: 12 * HOUR_MS, otherwise: "skip" },
    jitterMs: 0,
    until: undefined,
    count: undefined,
    owner: address,
    asksOwner: asksMaker === true,
    requester: {
      userId: schedule.madeBy.userId,
      ...(schedule.madeBy.fullName !== undefined && { fullName: schedule.madeBy.fullName }),
      ...(schedule.madeBy.isChat === true && { isChat: true }),
      ...(schedule.madeBy.language !== undefined && { language: schedule.madeBy.language }),
    },
  };
}

/**
 * Returns the next occurrences of a schedule, in epoch milliseconds, or a sentence that says why it cannot be.
 *
 * @param timezone a name such as `Europe/London`
 */
export function previewOf(
  schedule: string,
  timezone: string,
  now: number,
  leastIntervalMs: number,
  say: Say = sayEnglish,
): { readonly next: readonly number[]; readonly problem?: undefined } | { readonly problem: string } {
  if (!isTimeZone(timezone)) return { problem: say("zoneUnknown", { zone: timezone }) };
  const parsed = parseSchedule(schedule, timezone);
  if ("problem" in parsed) return parsed;
  const found: number[] = [];
  for (let at: number | undefined = now; found.length < LOOK_AT;) {
    at = nextOccurrence(parsed.rule, at, now);
    if (at === undefined) break;
    found.push(at);
  }
  if (found.length === 0) return { problem: say("scheduleNever") };
  const tooClose = found.some((at, index) => index > 0 && at - (found[index - 1] ?? 0) < leastIntervalMs);
  if (tooClose) return { problem: say("scheduleTooOften", { minutes: leastIntervalMs / 60_000 }) };
  return { next: found.slice(0, 3) };
}
