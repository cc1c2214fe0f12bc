/**
 * Dates and times of day without a zone, as milliseconds: the epoch milliseconds of the same date and time in UTC. All
 * arithmetic on a calendar is integer arithmetic on them, so it costs nothing.
 */
export type CivilMs = number;

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

export interface CivilDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly daysInMonth: number;
}

/** Returns the day that a civil time falls on. */
export function civilDayOf(civil: CivilMs): CivilDay {
  const date = new Date(civil);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth() + 1;
  return {
    year,
    month,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    daysInMonth: daysInMonth(year, month),
  };
}

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

export function startOfDay(civil: CivilMs): CivilMs {
  return Math.floor(civil / DAY_MS) * DAY_MS;
}

/** Returns the beginning of the month after the one that a civil time falls in. */
export function startOfNextMonth(civil: CivilMs): CivilMs {
  const date = new Date(civil);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
