import type { OccurrenceRecord } from "../../../src/schedules/rules/occurrence.ts";
import { checkQuotes } from "./check-quotes.ts";
import type { EndState } from "./end-state.ts";
import type { PlannedSchedule, ScheduleEnd } from "./schedule-watch.ts";

/**
 * Checks the scheduled tasks of a run that is over: each occurrence ran at most once and has ended, a late wake-up ran
 * one occurrence only, each target has the text once or its row says why not, and each owner was told of a failure once
 * and of the recovery once.
 */
export function checkSchedules(state: EndState, end: ScheduleEnd): void {
  for (const plan of end.plans) {
    const rows = end.occurrences
      .filter(({ taskId }) => taskId === plan.task)
      .toSorted((a, b) => a.scheduledFor - b.scheduledFor);
    checkTimes(state, plan, rows);
    for (const row of rows) checkOccurrence(state, end, plan, row);
    checkNews(state, end, plan);
  }
  checkQuotes(state, end);
}

function checkTimes(
  { oracle }: EndState,
  { count, everyMs, task }: PlannedSchedule,
  rows: readonly OccurrenceRecord[],
): void {
  const runs = rows.filter(({ code }) => code !== "missed");
  if (runs.length !== count) oracle.fail("I2", `${task} has ${runs.length} of ${count} occurrences`);
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1];
    const isGap = next !== undefined && next.scheduledFor - row.scheduledFor !== everyMs;
    if (isGap && row.code !== "missed")
      oracle.fail("I2", `${row.occurrenceKey} is followed by ${next.occurrenceKey}, and nothing says why`);
    const isCaughtUp = row.code !== "missed" && row.createdAt >= row.scheduledFor + everyMs;
    if (isCaughtUp) oracle.fail("I2", `${row.occurrenceKey} began after a later one was due`);
  }
}

function checkOccurrence(
  state: EndState,
  { watch }: ScheduleEnd,
  { task }: PlannedSchedule,
  row: OccurrenceRecord,
): void {
  const { oracle, platform } = state;
  const { deliveries, endedAt, occurrenceKey } = row;
  if (endedAt === undefined) {
    oracle.fail("I5", `${occurrenceKey} is ${row.state} in the end`);
    return;
  }
  const asked = watch.asked.filter(({ occurrence }) => occurrence === occurrenceKey);
  for (const { address, code, messageIds, state: reached } of deliveries) {
    const { threadId } = address;
    const thread = state.threads.find((one) => one.threadId === threadId);
    if (thread === undefined) continue;
    const shown = asked
      .filter((one) => one.threadId === threadId)
      .filter(({ token }) => isShown(thread, token));
    if (shown.length > 1) oracle.fail("I5", `${occurrenceKey} is shown ${shown.length} times in ${threadId}`);
    if (reached === "pending" || (reached === "skipped" && code === undefined))
      oracle.fail("I5", `${occurrenceKey} is ${row.state}, and nothing says what ${threadId} got`);
    if (reached !== "delivered") continue;
    if (row.state !== "delivered")
      oracle.fail("I5", `${occurrenceKey} is ${row.state}, and ${threadId} has it`);
    const isThere = (id: string): boolean =>
      platform.messages.some((message) => message.threadId === threadId && String(message.id) === id);
    if (messageIds.length === 0 || !messageIds.every(isThere))
      oracle.fail("I12", `${occurrenceKey} counts as delivered to ${threadId} without its messages`);
  }
  if (row.state === "skipped" && row.code !== "empty-answer" && asked.length > 0)
    oracle.fail("I2", `${occurrenceKey} of ${task} is skipped, and was asked`);
}

/** Whether a conversation has answered a turn with messages. */
function isShown({ delivery, operations }: EndState["threads"][number], token: string): boolean {
  const turn = [...operations.values()].find(({ questions }) => questions.includes(token));
  const receipt = turn === undefined ? undefined : delivery.receipt(turn.id);
  return receipt?.messages.some(({ state }) => state === "sent") === true;
}

function checkNews({ oracle }: EndState, { watch }: ScheduleEnd, { task }: PlannedSchedule): void {
  const news = watch.told.filter((one) => one.task === task).map((one) => one.news);
  const failures = news.filter((one) => one === "failing").length;
  const recoveries = news.filter((one) => one === "recovered").length;
  if (failures - recoveries < 0 || failures - recoveries > 1)
    oracle.fail("I5", `the owner of ${task} was told: ${news.join(", ")}`);
}
