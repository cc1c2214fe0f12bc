import { checkNames } from "./check-names.ts";
import { ConfigurationError } from "./errors.ts";
import type { Pacing, Rate } from "./surface.ts";

/**
 * Returns a provider's pacing, with the rates that the bot's owner has set instead.
 *
 * @throws {ConfigurationError} `pacing-malformed` when a rate is malformed or could never allow a call
 */
export function pacingFrom(owner: string, defaults: Pacing, given: Partial<Pacing> | undefined): Pacing {
  const code = "pacing-malformed";
  checkNames<Pacing>(given, { direct: true, group: true, global: true }, { owner, at: "pacing", code });
  for (const [name, rate] of Object.entries(given ?? {}))
    checkNames<Rate>(rate, { burst: true, everyMs: true }, { owner, at: `pacing.${name}`, code });
  return {
    direct: rateFrom("direct", defaults.direct, given?.direct),
    group: rateFrom("group", defaults.group, given?.group),
    global: rateFrom("global", defaults.global, given?.global),
  };
}

function rateFrom(name: keyof Pacing, fallback: Rate, given: Rate | undefined): Rate {
  if (given === undefined) return fallback;
  const { burst, everyMs } = given;
  if (!(Number.isInteger(burst) && burst >= 1) || !(Number.isFinite(everyMs) && everyMs > 0)) {
    throw new ConfigurationError(
      "pacing-malformed",
      `\`pacing.${name}\` is { burst: ${String(burst)}, everyMs: ${String(everyMs)} }. Set \`burst\` to a whole number of calls above 0, and \`everyMs\` to the milliseconds after which one more call is allowed.`,
    );
  }
  return { burst, everyMs };
}
