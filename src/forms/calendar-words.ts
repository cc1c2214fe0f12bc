import { DAY_MS, MINUTE_MS } from "../core/time/civil-time.ts";

/** Words for times in one language, in lower case. The runtime knows them, so no list of ours does. */
export interface CalendarWords {
  /** "today", "tomorrow", "in 3 days", as days from today. */
  readonly days: ReadonlyMap<string, number>;
  /** "in 5 minutes", "in 2 hours", as milliseconds from now. */
  readonly soon: ReadonlyMap<string, number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlyMap<string, number>;
  /** 1 to 12. */
  readonly months: ReadonlyMap<string, number>;
  /** Whether `3/4` is in April. Undefined if speakers of the language do not agree about that. */
  readonly isDayFirst: boolean | undefined;
}

const MOST_LANGUAGES = 16;
const known = new Map<string, CalendarWords>();

/** Returns the words of a language, and then those of English, which people also use. */
export function calendarWords(language: string | undefined): readonly CalendarWords[] {
  const own = language === undefined ? undefined : wordsIn(language);
  const english = { ...(wordsIn("en") ?? NO_WORDS), isDayFirst: undefined };
  return own === undefined ? [english] : [own, english];
}

const NO_WORDS: CalendarWords = {
  days: new Map(),
  soon: new Map(),
  weekdays: new Map(),
  months: new Map(),
  isDayFirst: undefined,
};

function wordsIn(language: string): CalendarWords | undefined {
  const kept = known.get(language);
  if (kept !== undefined) return kept;
  try {
    const made = makeWords(language);
    if (known.size >= MOST_LANGUAGES) known.clear();
    known.set(language, made);
    return made;
  } catch {
    // A platform may tell a language that the runtime does not know.
    return undefined;
  }
}

function makeWords(language: string): CalendarWords {
  const tag = `${language}-u-ca-gregory-nu-latn`;
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: "auto" });
  const always = new Intl.RelativeTimeFormat(tag, { numeric: "always" });
  const lower = (text: string): string =>
    text
      .normalize("NFC")
      .replaceAll(/\p{Cf}/gu, "")
      .toLowerCase();
  const days = new Map<string, number>();
  const soon = new Map<string, number>();
  const count = (
    unit: "day" | "week" | "hour" | "minute",
    most: number,
    each: number,
    to: typeof days,
  ): void => {
    for (let ahead = 1; ahead <= most; ahead += 1) to.set(lower(always.format(ahead, unit)), ahead * each);
  };
  count("day", 60, 1, days);
  count("week", 12, 7, days);
  count("hour", 48, 60 * MINUTE_MS, soon);
  count("minute", 120, MINUTE_MS, soon);
  for (const ahead of [-1, 0, 1, 2]) days.set(lower(relative.format(ahead, "day")), ahead);
  const names = (
    options: Intl.DateTimeFormatOptions,
    type: Intl.DateTimeFormatPartTypes,
    times: readonly number[],
    first: number,
  ): [string, number][] => {
    const format = new Intl.DateTimeFormat(tag, { ...options, timeZone: "UTC" });
    return times.flatMap((time, index): [string, number][] => {
      const name = format.formatToParts(time).find((part) => part.type === type)?.value;
      return name === undefined ? [] : [[lower(name).replace(/\.$/, ""), first + index]];
    });
  };
  // 1 January 2023 was a Sunday.
  const week = Array.from({ length: 7 }, (_, index) => Date.UTC(2023, 0, 1) + index * DAY_MS);
  const year = Array.from({ length: 12 }, (_, index) => Date.UTC(2023, index, 15));
  const forms = ["long", "short"] as const;
  return {
    days,
    soon,
    weekdays: new Map(forms.flatMap((weekday) => names({ weekday }, "weekday", week, 0))),
    // With the day beside it, because some languages then change the name.
    months: new Map([
      ...forms.flatMap((month) => names({ month }, "month", year, 1)),
      ...forms.flatMap((month) => names({ month, day: "numeric" }, "month", year, 1)),
    ]),
    isDayFirst: isDayFirst(language, tag),
  };
}

/** English without a country may be that of either side of the Atlantic. */
function isDayFirst(language: string, tag: string): boolean | undefined {
  if (language.toLowerCase() === "en") return undefined;
  const parts = new Intl.DateTimeFormat(tag, { day: "numeric", month: "numeric", timeZone: "UTC" })
    .formatToParts(0)
    .map(({ type }) => type);
  return parts.indexOf("day") < parts.indexOf("month");
}
