import { z } from "zod";
import type { Address } from "./surface.ts";

export const addressSchema = z.object({
  messengerId: z.string(),
  threadId: z.string(),
  chatId: z.string(),
  topicId: z.string().optional(),
  isDirectMessage: z.boolean(),
} satisfies Record<keyof Address, z.ZodType>);

/** Reads an address as it is stored with a reply. */
export function parseAddress(json: string): Address {
  return addressSchema.parse(JSON.parse(json));
}
