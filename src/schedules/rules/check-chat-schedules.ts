import { checkNames } from "../../core/check-names.ts";
import type { OptionNames } from "../../core/check-names.ts";
import { ConfigurationError } from "../../core/errors.ts";
import type { ChatScheduleOptions } from "./chat-schedule.ts";

const CODE = "chat-schedules-invalid";

const NAMES: OptionNames<ChatScheduleOptions> = {
  mostPerPerson: true,
  mostPerChat: true,
  leastIntervalMs: true,
  mostTokensPerDay: true,
  mostCostPerDay: true,
  mayManage: true,
};

/**
 * Checks the limits of schedules that people make. A misspelt limit would silently keep its default.
 *
 * @throws {ConfigurationError} `chat-schedules-invalid`
 */
export function checkChatSchedules(settings: boolean | ChatScheduleOptions): void {
  if (typeof settings === "boolean") return;
  checkNames(settings, NAMES, { owner: "chatSchedules", code: CODE });
  for (const [name, value] of Object.entries<unknown>({ ...settings })) {
    if (value === undefined) continue;
    if (name === "mayManage" ? typeof value === "function" : typeof value === "number" && value >= 0)
      continue;
    const fitting = name === "mayManage" ? "a function" : "a number of 0 or more";
    throw new ConfigurationError(CODE, `${name} of chatSchedules must be ${fitting}.`);
  }
}
