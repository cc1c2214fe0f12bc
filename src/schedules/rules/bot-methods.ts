import type { BotTexts } from "../../core/text/bot-texts.ts";
import type { FeatureHost } from "../../feature/feature-host.ts";
import type { QuietHoursMethods } from "../../scheduled-runs/chat-quiet-hours.ts";
import type { ChatScheduleOptions } from "./chat-schedule.ts";
import type { ThinkScheduledTasks } from "./scheduled-task.ts";

/** The methods of the bot's class that are about schedules. */
export interface ScheduleMethods extends QuietHoursMethods {
  readonly chatSchedules: boolean | ChatScheduleOptions;
  readonly texts?: BotTexts;
  getScheduledTasks(): ThinkScheduledTasks;
}

/** An object of the bot, as its schedules use it. */
export type SchedulesObject = FeatureHost<ScheduleMethods>;
