import { z } from "zod";
import { addressSchema } from "../../core/chat/stored-address.ts";
import { costSchema } from "../../scheduled-runs/stored-cost.ts";
import type { Leg, Target } from "../rules/occurrence.ts";
import type { Rule } from "../rules/rule.ts";

const days = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("every") }),
  z.object({
    kind: z.literal("some"),
    daysOfMonth: z.array(z.number()),
    weekdays: z.array(z.number()),
  }),
  z.object({ kind: z.literal("nth"), nth: z.number(), weekday: z.number() }),
]);

const ruleSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("interval"), everyMs: z.number() }),
  z.object({
    kind: z.literal("calendar"),
    zone: z.string(),
    minutes: z.array(z.number()),
    hours: z.array(z.number()),
    months: z.array(z.number()),
    days,
  }),
  z.object({ kind: z.literal("once"), at: z.number() }),
]);

const targetSchema = z.object({
  conversation: z.string(),
  address: addressSchema,
  delivery: z
    .object({
      state: z.enum(["pending", "waiting", "delivered", "failed", "skipped"]),
      messageIds: z.array(z.string()),
      code: z.string().exactOptional(),
    })
    .optional(),
} satisfies Record<keyof Target, z.ZodType>);

/** Each schema names every key of its type, because it drops all others. */
const legSchema = z.object({
  conversation: z.string(),
  address: addressSchema.optional(),
  isBroadcast: z.boolean().optional(),
  recites: z.boolean(),
  submissionId: z.string(),
  state: z.enum(["new", "open", "waiting", "delivered", "done", "failed", "skipped"]),
  notBefore: z.number().optional(),
  since: z.number().optional(),
  code: z.string().optional(),
  messageIds: z.array(z.string()),
  usage: costSchema.optional(),
} satisfies Record<keyof Leg, z.ZodType>);

/** Reads the rule of a task, as it is stored. Its keys keep their order, because rules are compared as text. */
export function parseRule(json: string): Rule {
  const rule: unknown = JSON.parse(json);
  ruleSchema.parse(rule);
  return rule as Rule;
}

/** Reads the chats of an occurrence, as they are stored. */
export function parseTargets(json: string): Target[] {
  return z.array(targetSchema).parse(JSON.parse(json));
}

/** Reads the turns of an occurrence, as they are stored. */
export function parseLegs(json: string): Leg[] {
  return z.array(legSchema).parse(JSON.parse(json));
}
