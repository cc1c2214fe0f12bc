import { checkOptions, isObject, POSITIVE, whole } from "../json/check-options.ts";
import type { OptionRules, OptionRule } from "../json/check-options.ts";
import type { Pacing } from "./surface.ts";

const RATE: OptionRule = [
  "{ burst, everyMs }: a whole number of calls above 0, and the milliseconds after which one more call is allowed",
  (rate) => isObject(rate) && "burst" in rate && "everyMs" in rate,
  { burst: whole(1), everyMs: POSITIVE },
];
const PACING: OptionRules<Pacing> = { direct: RATE, group: RATE, global: RATE };

/**
 * Returns a provider's pacing, with the rates that the bot's owner has set instead.
 *
 * @throws {ConfigurationError} `pacing-malformed` when a rate is malformed or could never allow a call
 */
export function pacingFrom(owner: string, defaults: Pacing, given: Partial<Pacing> | undefined): Pacing {
  checkOptions(given, PACING, { owner, at: "pacing", code: "pacing-malformed" });
  const { direct = defaults.direct, global = defaults.global, group = defaults.group } = given ?? {};
  return { direct, group, global };
}
