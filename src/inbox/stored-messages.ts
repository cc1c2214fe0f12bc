import type { UIMessage } from "ai";
import { z } from "zod";
import type { PromptMetadata } from "../core/turn/turn-info.ts";

/** Messages for the model, as the bot's own code gave them. Their parts are checked where they are read. */
const messagesSchema = z.array(
  z.looseObject({
    role: z.enum(["system", "user", "assistant"]),
    parts: z.array(z.looseObject({ type: z.string() })),
  }),
);

const metadataSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
) satisfies z.ZodType<PromptMetadata>;

/** Reads messages for the model as they are stored. */
export function parseMessages(json: string): UIMessage[] {
  return storedMessages.parse(JSON.parse(json));
}

export function parseMetadata(json: string): PromptMetadata {
  return metadataSchema.parse(JSON.parse(json));
}

export const storedMessages = messagesSchema.transform((messages) => messages as unknown as UIMessage[]);
export const storedMetadata = metadataSchema;
