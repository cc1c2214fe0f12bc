import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";

/** Text and time of a wish such as "remind me to call Ann tomorrow at 9", as the actions for schedules take them. */
export interface DemoSchedule {
  readonly toolName: "remind_me" | "schedule_digest";
  readonly input: { readonly text: string; readonly when: string };
}

const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
const NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"];
/** `30 seconds`, `30s`, `a minute`, `half an hour`, `a quarter of an hour`, `1.5 hours` */
const LENGTH = `(?:\\d{1,4}(?:\\.\\d)? ?|(?:an?|${NUMBERS.join("|")}|twelve|half(?: an?)?|a quarter of an|a couple of|a few) )(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?: and a half)?`;
const CLOCK = `(?<hour>\\d{1,2}|${NUMBERS.join("|")}|twelve|noon)(?::(?<minute>[0-5]\\d))? ?(?<half>am|pm)?`;
const WHEN = new RegExp(
  `\\b(?:in (?<relative>${LENGTH})|every (?<interval>${LENGTH}|(?:half )?hour|minute)|(?<day>today|tomorrow|(?:on )?${WEEKDAY}|every (?:day|weekday|${WEEKDAY}))(?: at)? ${CLOCK})\\b`,
  "i",
);
const REMINDER = /\bremind me(?: (?:to|of|about|that))?\b/i;
const DIGEST = /\b(?:digest|write me|send me)\b/i;

/** Actions that are only called with a time that `scheduleIn` has found. */
export const SCHEDULE_ACTIONS: ReadonlySet<string> = new Set(["remind_me", "schedule_digest"]);

/** Returns the schedule that a sentence asks for, if the bot can make one. Undefined for any other sentence. */
export function scheduleIn(
  text: string,
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
): DemoSchedule | undefined {
  const toolName = REMINDER.test(text) ? "remind_me" : DIGEST.test(text) ? "schedule_digest" : undefined;
  const found = WHEN.exec(text);
  if (toolName === undefined || found === null || !tools.some(({ name }) => name === toolName))
    return undefined;
  const rest = text.replace(found[0], " ");
  const wish = (toolName === "remind_me" ? rest.replace(REMINDER, " ") : rest)
    .replaceAll(/\bplease\b/gi, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^[\s,]*(?:to |of )?|[\s.!?,]+$/g, "")
    .trim();
  if (wish === "") return undefined;
  return { toolName, input: { text: wish, when: whenOf(found.groups ?? {}) } };
}

function whenOf({ day, half, hour, interval, minute = "00", relative }: Record<string, string>): string {
  if (relative !== undefined) return `in ${lengthOf(relative)}`;
  if (interval !== undefined) return `every ${lengthOf(interval)}`;
  const time = `${String(hourOf(hour ?? "", half)).padStart(2, "0")}:${minute}`;
  const words = (day ?? "").toLowerCase();
  const [, weekly] = new RegExp(`^every (${WEEKDAY})$`).exec(words) ?? [];
  return weekly === undefined ? `${words} at ${time}` : `every week on ${weekly} at ${time}`;
}

const UNITS = [
  { name: "day", count: 24 },
  { name: "hour", count: 60 },
  { name: "minute", count: 60 },
  { name: "second", count: 1 },
] as const;

/** Returns a length of time as the actions take it: a whole number of a unit. `half an hour` is `30 minutes`. */
function lengthOf(words: string): string {
  const [, said = "", short = ""] =
    /^(.*?) ?([a-z]+)(?: and a half)?$/.exec(words.trim().toLowerCase()) ?? [];
  let count = countOf(said) + (words.endsWith("half") ? 0.5 : 0);
  let name: string = "minute";
  for (const unit of UNITS.slice(UNITS.findIndex((one) => one.name.startsWith(short.charAt(0))))) {
    name = unit.name;
    if (Number.isInteger(count)) break;
    count *= unit.count;
  }
  count = Math.max(1, Math.round(count));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

function countOf(said: string): number {
  if (said.startsWith("half")) return 0.5;
  if (said.startsWith("a quarter")) return 0.25;
  if (said === "a few") return 3;
  if (said === "a couple of") return 2;
  if (/^\d/.test(said)) return Number(said);
  const named = [...NUMBERS, "twelve"].indexOf(said);
  return named === -1 ? 1 : named + 1;
}

function hourOf(word: string, half: string | undefined): number {
  const named = NUMBERS.indexOf(word.toLowerCase());
  const hour = named !== -1 ? named + 1 : /^\d+$/.test(word) ? Number(word) : 12;
  if (half === undefined) return hour;
  return (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}

/** Returns what to say about the result of an action for schedules. Undefined for any other result. */
export function wordSchedule(fields: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof fields["refused"] === "string") return fields["refused"];
  if (typeof fields["note"] !== "string" || typeof fields["done"] !== "boolean") return undefined;
  return fields["done"] ? "Gladly." : "One question first.";
}

const MOST_ENTRIES = 5;

/** Returns a digest of the entries in a prompt: JSON with a title and perhaps a link each. Undefined if it has none. */
export function digestOf(prompt: string): string | undefined {
  const [data] = /\[\{[\s\S]*\}\]/.exec(prompt) ?? [];
  if (data === undefined) return undefined;
  const lines = entriesIn(data).map(({ link, title }) =>
    link === "" ? `- ${title}` : `- [${title}](${link})`,
  );
  return lines.length === 0 ? undefined : ["The news:", "", ...lines.slice(0, MOST_ENTRIES)].join("\n");
}

function entriesIn(json: string): readonly { readonly title: string; readonly link: string }[] {
  try {
    const entries = JSON.parse(json) as readonly { readonly title?: unknown; readonly link?: unknown }[];
    return entries.flatMap(({ link, title }) =>
      typeof title === "string" ? [{ title, link: typeof link === "string" ? link : "" }] : [],
    );
  } catch {
    // Brackets of something else.
    return [];
  }
}
