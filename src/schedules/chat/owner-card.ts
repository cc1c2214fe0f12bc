import { z } from "zod";
import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say } from "../../core/text/bot-texts.ts";
import type { CallbackButton, CardContent } from "../../core/message/content.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, OwnerNews } from "../rules/occurrence.ts";
import { timeInWords } from "../../core/text/time-in-words.ts";

/** The effect of a button of a task's card. */
export type TaskButton = "resume" | "run" | "delete";

/** The payload of a button of a task's card. */
export const taskPressSchema = z.object({ task: z.string(), do: z.enum(["resume", "run", "delete"]) });

/** Returns the message to the owner of a task about its failures. It names no text of a chat. */
export function ownerCard(
  task: CheckedTask,
  { code, scheduledFor }: Occurrence,
  news: Exclude<OwnerNews, "too-late">,
  { isDirectMessage }: Pick<Address, "isDirectMessage">,
  say: Say = sayEnglish,
): CardContent {
  const told = {
    task: `**${task.id}**`,
    time: timeInWords(scheduledFor, task.zone, say),
    reason: `\`${code ?? "unknown"}\``,
  };
  if (news !== "paused") return { kind: "card", text: say(TEXTS[news], told) };
  const text = say("taskPaused", told);
  // Nobody could press.
  if (!isDirectMessage && (task.managers ?? []).length === 0)
    return { kind: "card", text: `${text} ${say("taskForDevelopers")}` };
  return {
    kind: "card",
    text,
    buttons: [
      [button(task, say("taskResumeButton"), "resume"), button(task, say("taskRunButton"), "run")],
      [button(task, say("deleteButton"), "delete")],
    ],
  };
}

/** Tells whether somebody may press the buttons of a task's card: everybody in a private chat, else its managers. */
export function mayManageTask(
  { managers = [] }: Pick<CheckedTask, "managers">,
  { isDirectMessage }: Pick<Address, "isDirectMessage">,
  { userId }: Pick<MessengerAuthor, "userId">,
): boolean {
  return isDirectMessage || managers.includes(userId);
}

/** Returns the card of a paused task after somebody has pressed one of its buttons. */
export function decidedCard(
  taskId: string,
  pressed: TaskButton,
  by: string,
  say: Say = sayEnglish,
): CardContent {
  return { kind: "card", text: say(DECIDED[pressed], { task: `**${taskId}**`, name: by }) };
}

const TEXTS = { failing: "taskFailed", limited: "taskLimited", recovered: "taskRecovered" } as const;
const DECIDED = { resume: "taskResumed", run: "taskRuns", delete: "taskStopped" } as const;

function button({ id }: CheckedTask, label: string, action: TaskButton): CallbackButton {
  return { kind: "callback", label, payload: { task: id, do: action } };
}
