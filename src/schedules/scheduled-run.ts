import { z } from "zod";
import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { ScheduleBinding } from "../core/schedule-binding.ts";
import { sha256 } from "../core/sha256.ts";
import type { Address } from "../core/surface.ts";
import type { CheckedTask } from "./check-tasks.ts";

/** For whom a turn of a scheduled task runs, and where it asks people. Plain JSON. */
export interface ScheduledRun {
  readonly schedule: ScheduleBinding;
  readonly occurrenceKey: string;
  /** The person who made the schedule in a chat: its actions need that person's rights. Undefined for declared tasks. */
  readonly requester?: MessengerAuthor | undefined;
  /** The owner's chat, in which consent is asked. Undefined: in the chat of the turn. */
  readonly askIn?: Address | undefined;
  /** The chat that shows the answer of the turn itself. */
  readonly shownIn?: Address | undefined;
}

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
    })
    .optional(),
  askIn: addressSchema.optional(),
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
