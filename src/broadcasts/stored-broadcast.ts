import { z } from "zod";
import type { Content } from "../core/content.ts";
import { storedMessages, storedMetadata } from "../core/stored-messages.ts";
import type { BroadcastWork } from "./broadcast.ts";
import type { SubscriberKey } from "./subscriber-store.ts";

/** The content is checked again where it is sent. */
const contentSchema = z
  .union([z.string(), z.looseObject({ kind: z.string() })])
  .transform((content) => content as Content);

const workSchema = z.discriminatedUnion("kind", [
  z.looseObject({
    kind: z.literal("content"),
    content: contentSchema,
    informModel: z.boolean(),
    noteKind: z.string().optional(),
    ignoresQuietHours: z.boolean().optional(),
    options: z.looseObject({ silent: z.boolean().optional(), protect: z.boolean().optional() }).optional(),
  }),
  z.looseObject({ kind: z.literal("prompt"), messages: storedMessages, metadata: storedMetadata.optional() }),
]);

const countsSchema = z.record(z.string(), z.number());
const keySchema = z.object({ messengerId: z.string(), threadId: z.string() });

/** Reads what every target of a broadcast gets, as it is stored. */
export function parseWork(json: string): BroadcastWork {
  return workSchema.parse(JSON.parse(json));
}

/** Reads counters by code, as they are stored. */
export function parseCounts(json: string): Readonly<Record<string, number>> {
  return countsSchema.parse(JSON.parse(json));
}

/** Reads a place in the order of subscribers, as a broadcast stores it and as a caller gives it back. */
export function parseSubscriberKey(json: string): SubscriberKey {
  return keySchema.parse(JSON.parse(json));
}
