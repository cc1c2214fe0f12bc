import { z } from "zod";
import type { ScheduledRun } from "../core/scheduled-run.ts";
import { sha256 } from "../core/sha256.ts";
import type { CheckedTask } from "./check-tasks.ts";

const addressSchema = z.object({
  messengerId: z.string(),
  threadId: z.string(),
  chatId: z.string(),
  topicId: z.string().exactOptional(),
  isDirectMessage: z.boolean(),
});

export const scheduledRunSchema = z.object({
  schedule: z.object({ keeper: z.string(), taskId: z.string(), revision: z.string() }),
  occurrenceKey: z.string(),
  requester: z
    .object({
      userId: z.string(),
      userName: z.string().exactOptional(),
      fullName: z.string().exactOptional(),
      isChat: z.boolean().exactOptional(),
    })
    .optional(),
  askIn: addressSchema.optional(),
  broadcast: z.object({ id: z.string(), target: z.string() }).optional(),
  shownIn: addressSchema.optional(),
}) satisfies z.ZodType<ScheduledRun>;

/** Returns the revision of a task: another one whenever anything about it changes that people may have agreed to. */
export async function revisionOf({ metadata, rule, work, zone }: CheckedTask): Promise<string> {
  const { kind } = work;
  const told =
    kind === "prompt"
      ? [work.prompt, work.fanOut, typeof work.deliverTo === "function" ? "function" : work.deliverTo]
      : [];
  const hash = await sha256(JSON.stringify([kind, rule, zone, metadata, told]));
  return hash.slice(0, 16);
}
