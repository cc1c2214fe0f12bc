import { advance, newLeg } from "./advance-leg.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import { lookAgain } from "./look-again.ts";
import { isSameThread } from "../../feature/same-thread.ts";
import type { Leg, Occurrence, OccurrenceDelivery, Target } from "../rules/occurrence.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import { ended, retried } from "./step-result.ts";
import type { OccurrenceEnd, StepResult } from "./step-result.ts";

/** Takes every turn of a prompt one step further, and ends the prompt with the last of them. */
export async function continuePrompt(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
): Promise<StepResult> {
  const legs: Leg[] = [];
  let { targets, text } = occurrence;
  for (const leg of occurrence.legs) {
    const advanced = await advance(host, occurrence, task, leg);
    const isChanged = advanced.leg.state !== leg.state;
    legs.push(isChanged ? { ...advanced.leg, since: host.clock.now() } : advanced.leg);
    text ??= advanced.text;
    if (advanced.chats !== undefined) targets = withDeliveries(targets, advanced.chats);
  }
  const current: Occurrence = { ...occurrence, legs, targets, text };
  const open = legs.filter(({ state }) => state === "new" || state === "open" || state === "waiting");
  if (open.length > 0) return lookAgain(host, current, open);
  const [first] = legs;
  const isRunAlone = first !== undefined && first.address === undefined && first.isBroadcast !== true;
  if (isRunAlone && first.state === "failed")
    return retried(host, current, task, first.code ?? "turn-failed");
  if (isRunAlone && first.state === "skipped")
    return ended(current, { state: "skipped", code: first.code ?? "no-answer" });
  if (isRunAlone && legs.length === 1 && (current.targets.length > 0 || current.isMany))
    return recite(host, current, task, text ?? "");
  const end = endOf(current);
  // Text that somebody has seen is never followed by another try.
  const isSeen = legs.some(({ messageIds }) => messageIds.length > 0);
  if (end.state === "failed" && !isSeen && !isRunAlone)
    return retried(host, current, task, end.code ?? "turn-failed");
  return ended(current, end);
}

/** Adds to each chat how its delivery stands. */
function withDeliveries(targets: readonly Target[], chats: readonly OccurrenceDelivery[]): readonly Target[] {
  return targets.map((target) => {
    const found = chats.find(({ address }) => isSameThread(address, target.address));
    if (found === undefined) return target;
    const { address: _address, ...delivery } = found;
    return { ...target, delivery };
  });
}

/** Gives the text to every chat, whose conversations remember it. */
function recite(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  text: string,
): Promise<StepResult> | StepResult {
  if (text.trim() === "") return ended(occurrence, { state: "skipped", code: "empty-answer" });
  const delivery = { ...newLeg(occurrence, occurrence.attempts, 1), isBroadcast: true, recites: true };
  const reciting = { ...occurrence, text, legs: [...occurrence.legs, delivery] };
  host.save(reciting);
  return continuePrompt(host, reciting, task);
}

/** The end of an occurrence whose turns have all ended. */
function endOf({ isMany, legs, targets }: Occurrence): OccurrenceEnd {
  const last = legs.filter(({ address, isBroadcast }) => address !== undefined || isBroadcast === true);
  if ((targets.length === 0 && !isMany) || last.length === 0) {
    const failed = legs.find(({ state }) => state === "failed");
    if (failed !== undefined) return { state: "failed", code: failed.code ?? "turn-failed" };
    return { state: "done", code: legs.find(({ code }) => code !== undefined)?.code };
  }
  if (last.some(({ state }) => state === "delivered"))
    return {
      state: "delivered",
      code: legs.find(({ state }) => state === "delivered" || state === "done")?.code,
    };
  const failed = last.find(({ state }) => state === "failed");
  const skipped = last.find(({ state }) => state === "skipped");
  if (failed === undefined) return { state: "skipped", code: skipped?.code ?? "empty-answer" };
  return { state: "failed", code: failed.code ?? "turn-failed" };
}
