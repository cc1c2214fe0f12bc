import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Leg, Occurrence } from "../rules/occurrence.ts";
import type { ManyReport, ManyWork, OccurrenceHost } from "./occurrence-host.ts";

const ENDED: ReadonlySet<Leg["state"]> = new Set(["delivered", "done", "failed", "skipped"]);

/**
 * Begins one turn of an occurrence, or asks how it stands. Returns the text of a turn that has ended, and how a delivery
 * stands in its chats.
 */
export async function advance(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  leg: Leg,
): Promise<{
  readonly leg: Leg;
  readonly text?: string | undefined;
  readonly chats?: ManyReport["chats"];
}> {
  if (ENDED.has(leg.state)) return { leg };
  const { isMany, targets } = occurrence;
  if (leg.state === "new" && leg.isBroadcast === true) {
    const { prompt = "", text = "" } = occurrence;
    const run = await host.runOf(task, occurrence);
    const work: ManyWork = leg.recites
      ? { kind: "text", text, run }
      : { kind: "prompt", prompt, metadata: metadataOf(occurrence, task), run };
    const { work: own } = task;
    const declared = own.kind === "prompt" ? own.deliverTo : undefined;
    await host.broadcast(leg.submissionId, work, isMany ? declared : targets);
    return { leg: { ...leg, state: "open" } };
  }
  if (leg.state === "new") {
    const notBefore = leg.address === undefined ? undefined : await host.quietUntil?.(leg.address);
    if (notBefore !== undefined && leg.address !== undefined) {
      // A text that is written already is still sent after the quiet hours. A prompt that has not run gives way to the
      // next one.
      if (!leg.recites && leg.notBefore === undefined) host.replaceQuiet?.(occurrence, leg.address);
      return { leg: { ...leg, notBefore } };
    }
    await host.submit(leg.conversation, {
      id: leg.submissionId,
      prompt: leg.recites ? host.introductionOf(task) : (occurrence.prompt ?? ""),
      recites: leg.recites ? occurrence.text : undefined,
      address: leg.address,
      metadata: metadataOf(occurrence, task),
      ...(!leg.recites && { run: await host.runOf(task, occurrence) }),
    });
    return { leg: { ...leg, state: "open" } };
  }
  const { chats, code, messageIds, state, text, usage }: ManyReport =
    leg.isBroadcast === true
      ? await host.reportBroadcast(leg.submissionId, !isMany)
      : await host.report(leg.conversation, leg.submissionId);
  switch (state) {
    case "open":
    case "waiting":
      return { leg: { ...leg, state, usage }, chats };
    case "failed":
    case "skipped":
      return { leg: { ...leg, state, code, messageIds: messageIds ?? [], usage }, chats };
    case "completed": {
      const isEmpty = leg.address !== undefined && messageIds?.length === 0;
      const isShown = leg.address !== undefined || leg.isBroadcast === true;
      const reached = isShown ? ("delivered" as const) : ("done" as const);
      if (isEmpty) return { leg: { ...leg, state: "done", code: "empty-answer", usage } };
      return { leg: { ...leg, state: reached, code, messageIds: messageIds ?? [], usage }, text, chats };
    }
  }
}

/** Returns a turn that has not begun. */
export function newLeg({ key }: Occurrence, attempt: number, index: number): Leg {
  return {
    conversation: "",
    recites: false,
    submissionId: `schedule:${key}#${attempt}.${index}`,
    state: "new",
    messageIds: [],
  };
}

function metadataOf({ scheduledFor }: Occurrence, task: CheckedTask): CheckedTask["metadata"] {
  return { ...task.metadata, scheduledTask: task.id, scheduledFor };
}
