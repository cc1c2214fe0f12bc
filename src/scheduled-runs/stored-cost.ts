import { z } from "zod";
import type { TurnCost } from "../core/turn/turn-cost.ts";

/** Names every key of its type, because it drops all others. */
export const costSchema = z
  .object({
    input: z.number().optional(),
    output: z.number().optional(),
    cost: z.number().optional(),
  } satisfies Record<keyof TurnCost, z.ZodType>)
  .transform(({ input, output, cost }) => ({ input, output, cost }));

/** Reads tokens and money, as they are stored. Undefined if none are. */
export function parseCost(json: string | null): TurnCost | undefined {
  return json === null ? undefined : costSchema.parse(JSON.parse(json));
}
