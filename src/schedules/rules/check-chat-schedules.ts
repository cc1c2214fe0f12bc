import { checkOptions, FLAG, FUNCTION, NOT_NEGATIVE } from "../../core/check-options.ts";
import type { OptionRules } from "../../core/check-options.ts";
import type { ChatScheduleOptions } from "./chat-schedule.ts";

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
