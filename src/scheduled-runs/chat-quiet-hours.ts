import { BOT_CODE_LIMIT_MS, logBotFailure } from "../core/time/bot-code.ts";
import type { Clock } from "../core/base/deps.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import type { Address } from "../core/chat/surface.ts";
import { withinTime } from "../core/time/within-time.ts";
import { parseQuietHours, quietUntil } from "./quiet-hours.ts";
import type { QuietHours } from "./quiet-hours.ts";

/** The methods of the bot's class that are about times of day. */
export interface QuietHoursMethods {
  getDefaultTimezone(): string | undefined;
  quietHoursOf?(chat: Address): QuietHours | undefined | Promise<QuietHours | undefined>;
}

export interface ChatQuietHoursHost {
  readonly agent: QuietHoursMethods;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Returns the end of the quiet hours of a chat, in epoch milliseconds. Undefined outside of them, and if the bot's
 * `quietHoursOf` fails: its digests are not lost then.
 */
export async function chatQuietUntil(
  { agent, clock, log }: ChatQuietHoursHost,
  address: Address,
): Promise<number | undefined> {
  if (agent.quietHoursOf === undefined) return undefined;
  try {
    const asked = Promise.resolve(agent.quietHoursOf(address));
    const hours = await withinTime(clock, BOT_CODE_LIMIT_MS, asked, "quietHoursOf()");
    if (hours === undefined) return undefined;
    const checked = parseQuietHours(hours, agent.getDefaultTimezone());
    if ("problem" in checked)
      throw new ConfigurationError(
        "quiet-hours-invalid",
        `quietHoursOf() has returned hours that cannot be used. ${checked.problem}`,
      );
    return quietUntil(checked, clock.now());
  } catch (error) {
    logBotFailure(log, "quietHoursOf", error);
    return undefined;
  }
}
