import { z } from "zod";
import type { MessengerAuthor } from "./messenger-event.ts";
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

/** An address that bot code gives. */
export const givenAddressSchema = z.strictObject({
  messengerId: z.string().min(1),
  threadId: z.string().min(1),
  chatId: z.string().min(1),
  topicId: z.string().min(1).exactOptional(),
  isDirectMessage: z.boolean(),
} satisfies Record<keyof Address, z.ZodType>);

export const personSchema = z.object({
  userId: z.string(),
  userName: z.string().optional(),
  fullName: z.string().optional(),
  isBot: z.boolean().optional(),
  isChat: z.boolean().optional(),
  language: z.string().optional(),
} satisfies Record<keyof MessengerAuthor, z.ZodType>);
