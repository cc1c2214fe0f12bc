import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say } from "../../core/text/bot-texts.ts";
import type { CallbackButton, CardContent } from "../../core/message/content.ts";
import { z } from "zod";
import type { ChatSchedule } from "../rules/chat-schedule.ts";
import type { OwnerNews } from "../rules/occurrence.ts";
import { durationInWords, timeInWords } from "../../core/text/time-in-words.ts";

/** A request to make a schedule that waits for the person's time zone. */
const requestSchema = z.object({
  kind: z.enum(["digest", "reminder"]),
  text: z.string(),
  when: z.string(),
});
export type ScheduleRequest = z.infer<typeof requestSchema>;

/** The payloads of the buttons of all cards about schedules. */
export const pressSchema = z.discriminatedUnion("schedules", [
  z.object({
    schedules: z.literal("reminder"),
    do: z.enum(["done", "10m", "1h", "tomorrow", "skip"]),
    id: z.string(),
    key: z.string(),
  }),
  z.object({
    schedules: z.literal("manage"),
    do: z.enum(["pause", "resume", "run", "delete"]),
    id: z.string(),
  }),
  z.object({
    schedules: z.literal("zone"),
    zone: z.string(),
    /** The id of the person who was asked. */
    by: z.string(),
    request: requestSchema,
  }),
]);
export type SchedulePress = z.infer<typeof pressSchema>;

/** A schedule as its cards show it. */
export interface ShownSchedule {
  readonly schedule: ChatSchedule;
  readonly isPaused: boolean;
  /** Epoch milliseconds. */
  readonly next: readonly number[];
  /** The moment of showing, in epoch milliseconds. */
  readonly now: number;
}

/** Zones that the question offers. People write any other city in their own words. */
const ZONES: readonly (readonly [string, string])[] = [
  ["London", "Europe/London"],
  ["Berlin, Paris", "Europe/Berlin"],
  ["Kyiv, Helsinki", "Europe/Helsinki"],
  ["Istanbul", "Europe/Istanbul"],
  ["India", "Asia/Kolkata"],
  ["Singapore", "Asia/Singapore"],
  ["Tokyo", "Asia/Tokyo"],
  ["New York", "America/New_York"],
  ["Los Angeles", "America/Los_Angeles"],
  ["São Paulo", "America/Sao_Paulo"],
];
const MOST_LISTED = 8;
const MOST_SHOWN_TEXT = 300;

/** Asks a person for a time zone, once. */
export function zoneCard(request: ScheduleRequest, by: string, say: Say = sayEnglish): CardContent {
  const buttons = ZONES.map(([label, zone]) => button(label, { schedules: "zone", zone, by, request }));
  return {
    kind: "card",
    text: say("zoneQuestion"),
    buttons: rowsOf(buttons, 2),
  };
}

/** Confirms a schedule with its next occurrences. */
export function confirmationCard(shown: ShownSchedule, say: Say = sayEnglish): CardContent {
  const { schedule } = shown;
  const made = schedule.kind === "reminder" ? "remindsYou" : "writesForYou";
  return {
    kind: "card",
    text: `${say(made, { text: quoted(schedule.text) })}\n\n${whenInWords(shown, say)}`,
    buttons: [[manage(say("deleteButton"), "delete", schedule.id)]],
  };
}

/** Tells the people of a chat how a schedule fares that one of them has made. Everybody sees it, so it names no reason. */
export function newsCard(
  { next, schedule }: ShownSchedule,
  news: Exclude<OwnerNews, "too-late">,
  dueAt: number,
  say: Say = sayEnglish,
): CardContent {
  const text = quoted(schedule.text);
  const time = timeInWords(dueAt, schedule.timezone, say);
  switch (news) {
    case "failing": {
      const goesOn = say(next.length > 0 ? "scheduleGoesOn" : "scheduleHasNoNext");
      return { kind: "card", text: say("scheduleFailed", { text, time, next: goesOn }) };
    }
    case "limited":
      return { kind: "card", text: say("scheduleLimited", { text, time }) };
    case "recovered":
      return { kind: "card", text: say("scheduleRecovered", { text }) };
    case "paused":
      return {
        kind: "card",
        text: say("schedulePausedItself", { text }),
        buttons: [
          [
            manage(say("resumeButton", { id: schedule.id }), "resume", schedule.id),
            manage(say("runButton", { id: schedule.id }), "run", schedule.id),
            manage(say("deleteOneButton", { id: schedule.id }), "delete", schedule.id),
          ],
        ],
      };
  }
}

/** A schedule whose occurrence was skipped. */
export type SkippedSchedule = Pick<ShownSchedule, "schedule" | "next"> & {
  /** Epoch milliseconds. */
  readonly dueAt: number;
};

/** Tells the people of a chat what was skipped because the bot was away for too long. */
export function skippedCard(skipped: readonly SkippedSchedule[], say: Say = sayEnglish): CardContent {
  const lines = skipped.slice(0, MOST_LISTED).map(({ dueAt, next, schedule: { text, timezone } }) =>
    say("skippedLine", {
      text: quoted(text),
      time: timeInWords(dueAt, timezone, say),
      next: say(next.length > 0 ? "scheduleComesAgain" : "scheduleHasNoNext"),
    }),
  );
  const more = skipped.length - lines.length;
  if (more > 0) lines.push(say("moreSchedules", { count: more }));
  return { kind: "card", text: [say("schedulesSkipped"), ...lines].join(lines.length > 1 ? "\n" : " ") };
}

/** Lists the schedules of a chat with their buttons. */
export function listCard(schedules: readonly ShownSchedule[], say: Say = sayEnglish): CardContent {
  if (schedules.length === 0) return { kind: "card", text: say("noSchedules") };
  const listed = schedules.slice(0, MOST_LISTED);
  const more = schedules.length - listed.length;
  const lines = listed.map(
    (shown) => `**${shown.schedule.id}** ${quoted(shown.schedule.text)}\n${whenInWords(shown, say)}`,
  );
  if (more > 0) lines.push(say("moreSchedules", { count: more }));
  return {
    kind: "card",
    text: lines.join("\n\n"),
    buttons: listed.map(({ isPaused, schedule: { id } }) => [
      isPaused
        ? manage(say("resumeButton", { id }), "resume", id)
        : manage(say("pauseButton", { id }), "pause", id),
      manage(say("runButton", { id }), "run", id),
      manage(say("deleteOneButton", { id }), "delete", id),
    ]),
  };
}

/** Reminds somebody. */
export function reminderCard(
  id: string,
  text: string,
  key: string,
  { isLate, isRecurring }: { readonly isLate: string | undefined; readonly isRecurring: boolean },
  say: Say = sayEnglish,
): CardContent {
  const press = (label: string, action: "done" | "10m" | "1h" | "tomorrow" | "skip"): CallbackButton =>
    button(label, { schedules: "reminder", do: action, id, key });
  const rows = [
    [press(say("doneButton"), "done"), press(say("tenMinutesButton"), "10m")],
    [press(say("oneHourButton"), "1h"), press(say("tomorrowButton"), "tomorrow")],
  ];
  return {
    kind: "card",
    text: `⏰ ${text}${isLate === undefined ? "" : `\n\n${say("reminderLate", { duration: isLate })}`}`,
    buttons: isRecurring ? [...rows, [press(say("skipButton"), "skip")]] : rows,
  };
}

/** The card of a reminder after somebody has pressed one of its buttons. */
export function answeredCard(text: string, answer: string): CardContent {
  return { kind: "card", text: `⏰ ${text}\n\n${answer}` };
}

export function whenInWords({ isPaused, next, now, schedule }: ShownSchedule, say: Say = sayEnglish): string {
  if (isPaused) return say("schedulePaused");
  if (next.length === 0) return say("scheduleOver");
  if (schedule.isZoneUnknown === true) {
    const durations = next.map((at) => say("inDuration", { duration: durationInWords(at - now, say) }));
    return say("nextDurations", { durations: durations.join(", ") });
  }
  const times = next.map((at) => timeInWords(at, schedule.timezone, say).replace(/ \([^)]*\)$/, ""));
  return say("nextTimes", { times: times.join(", "), zone: schedule.timezone });
}

function quoted(text: string): string {
  return text.length > MOST_SHOWN_TEXT ? `${text.slice(0, MOST_SHOWN_TEXT)}…` : text;
}

function manage(label: string, action: "pause" | "resume" | "run" | "delete", id: string): CallbackButton {
  return button(label, { schedules: "manage", do: action, id });
}

function button(label: string, payload: SchedulePress): CallbackButton {
  return { kind: "callback", label, payload };
}

function rowsOf(buttons: readonly CallbackButton[], width: number): CallbackButton[][] {
  const rows: CallbackButton[][] = [];
  for (let at = 0; at < buttons.length; at += width) rows.push(buttons.slice(at, at + width));
  return rows;
}
