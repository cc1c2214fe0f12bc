import type { Log } from "../../core/base/log.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import type { Schedules } from "../runs/schedules.ts";
import type { ChatSchedules } from "./chat-schedules.ts";
import type { TaskTargets } from "./task-targets.ts";

/** The scheduled tasks of an object, and the chats that they name. */
export interface ScheduleParts {
  readonly host: SchedulesObject;
  readonly log: Log;
  readonly schedules: Schedules;
  /** Schedules that people have made here. */
  readonly chat: ChatSchedules;
  readonly targets: TaskTargets;
}
