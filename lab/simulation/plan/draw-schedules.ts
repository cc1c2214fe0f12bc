import type { Random } from "../../support/random.ts";
import type { Place, PlanItem } from "./plan.ts";

/** The share of plans in which the bot has scheduled tasks. */
const SHARE = 0.3;

/** The share of plans with scheduled tasks in which people reply to a digest. */
const QUOTING_SHARE = 0.6;

/** Returns replies of people to digests, which quote them. */
export function drawQuotes(random: Random, schedules: readonly PlanItem[]): PlanItem[] {
  const places = [...new Set(schedules.flatMap((item) => (item.kind === "schedule" ? item.places : [])))];
  const [first, ...others] = places;
  if (first === undefined || !random.chance(QUOTING_SHARE)) return [];
  return Array.from({ length: random.int(1, 2) }, (_, index): PlanItem => {
    const place = random.pick([first, ...others]);
    return { kind: "quote-digest", at: random.int(1_500, 20_000), place, token: `m8${index}` };
  });
}

/** Returns scheduled tasks of the bot whose digests go to some of the places. */
export function drawSchedules(random: Random, places: readonly Place[]): PlanItem[] {
  const count = random.chance(SHARE) ? random.int(1, 2) : 0;
  return Array.from({ length: count }, (_, index): PlanItem => {
    const isForAll = random.chance(0.6);
    const chosen = places.map((_place, place) => place).filter(() => isForAll || random.chance(0.6));
    return {
      kind: "schedule",
      task: `task${index}`,
      places: chosen.length > 0 ? chosen : [random.int(0, places.length - 1)],
      fanOut: random.chance(0.5) ? "each" : "once",
      // The shortest ones come due again while the machine is away, or while an earlier one is being delivered.
      everyMs: random.pick([1_500, 4_000, 15_000]),
      count: random.int(1, 4),
      maxAttempts: random.pick([1, 2]),
    };
  });
}
