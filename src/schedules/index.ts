/** Scheduled tasks: what they are, when they run, and what became of each occurrence. */
export {
  answeredCard,
  confirmationCard,
  listCard,
  newsCard,
  pressSchema,
  reminderCard,
  skippedCard,
  zoneCard,
} from "./chat-cards.ts";
export type { SchedulePress, ScheduleRequest, ShownSchedule } from "./chat-cards.ts";
export { CHAT_SCHEDULE_DEFAULTS, previewOf, taskOf } from "./chat-schedule.ts";
export type { ChatSchedule, ChatScheduleOptions, SchedulePerson } from "./chat-schedule.ts";
export { createChatScheduleStore } from "./chat-schedule-store.ts";
export type { ChatScheduleStore } from "./chat-schedule-store.ts";
export { needsZone, parseWhen } from "./parse-when.ts";
export { checkChatSchedules } from "./check-chat-schedules.ts";
export { checkTasks } from "./check-tasks.ts";
export type { CheckedTask } from "./check-tasks.ts";
export type { Occurrence, OccurrenceFilter, OccurrenceRecord, OwnerNews, Target } from "./occurrence.ts";
export { decidedCard, mayManageTask, ownerCard, taskPressSchema } from "./owner-card.ts";
export { parseQuietHours, quietUntil } from "./quiet-hours.ts";
export { runOccurrence } from "./run-occurrence.ts";
export type { FoundTargets, LegReport, LegRequest, ManyWork, OccurrenceHost } from "./occurrence-host.ts";
export type { DeliverTo, DeliveryTarget, QuietHours, ThinkScheduledTasks } from "./scheduled-task.ts";
export { revisionOf } from "./scheduled-run.ts";
export { createScheduledRunStore } from "./scheduled-run-store.ts";
export type { ScheduledRunStore } from "./scheduled-run-store.ts";
export { createPersonZoneStore } from "./person-zone-store.ts";
export type { PersonZoneStore, ZonedPerson } from "./person-zone-store.ts";
export { isTimeZone } from "./time-zone.ts";
export { Schedules } from "./schedules.ts";
export type { ScheduledTaskRecord } from "./task-record.ts";
export { durationInWords, timeInWords } from "./time-in-words.ts";
