import type { CardContent } from "../core/content.ts";
import type { CheckedTask } from "./check-tasks.ts";
import type { Occurrence, OwnerNews } from "./occurrence.ts";
import { timeInWords } from "./time-in-words.ts";

/** The effect of a button of a task's card. */
export type TaskButton = "resume" | "run" | "delete";

/** Returns the message to the owner of a task about its failures. It names no text of a chat. */
export function ownerCard(
  task: CheckedTask,
  { code, scheduledFor }: Occurrence,
  news: Exclude<OwnerNews, "too-late">,
): CardContent {
  const name = `**${task.id}**`;
  const when = timeInWords(scheduledFor, task.zone);
  switch (news) {
    case "failing":
      return {
        kind: "card",
        text: `The scheduled task ${name} failed (due ${when}, reason: \`${code ?? "unknown"}\`). I'll try the next one as planned, and tell you when it works again.`,
      };
    case "limited":
      return {
        kind: "card",
        text: `The scheduled task ${name} has used up its budget of the day (\`${code ?? "unknown"}\`), so I skipped it (due ${when}). It goes on when the budget allows.`,
      };
    case "recovered":
      return { kind: "card", text: `The scheduled task ${name} works again (due ${when}).` };
    case "paused":
      return {
        kind: "card",
        text: `The scheduled task ${name} failed five times in a row, so I've paused it. The last reason: \`${code ?? "unknown"}\` (due ${when}).`,
        buttons: [
          [button(task, "Resume", "resume"), button(task, "Run now", "run")],
          [button(task, "Delete", "delete")],
        ],
      };
  }
}

/** Returns the card of a paused task after somebody has pressed one of its buttons. */
export function decidedCard(taskId: string, pressed: TaskButton, by: string): CardContent {
  const name = `**${taskId}**`;
  const texts: Readonly<Record<TaskButton, string>> = {
    resume: `The scheduled task ${name} goes on. ${by} resumed it.`,
    run: `The scheduled task ${name} goes on, and runs now. ${by} asked for that.`,
    delete: `The scheduled task ${name} stays stopped. ${by} asked for that.`,
  };
  return { kind: "card", text: texts[pressed] };
}

function button(
  { id }: CheckedTask,
  label: string,
  action: TaskButton,
): { readonly kind: "callback"; readonly label: string; readonly payload: { task: string; do: TaskButton } } {
  return { kind: "callback", label, payload: { task: id, do: action } };
}
