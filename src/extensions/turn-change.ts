import { z } from "zod";
import type { TurnConfig } from "../turn/hooks.ts";
import type { TurnChange } from "./extension-api.ts";

const schema = z.strictObject({
  system: z.string().min(1).max(100_000).optional(),
  activeTools: z.array(z.string().max(128)).max(256).optional(),
  toolChoice: z.enum(["auto", "none"]).optional(),
  maxSteps: z.int().min(1).max(1000).optional(),
  sendReasoning: z.literal(false).optional(),
});

/** Returns the changes. Undefined for anything else that a hook has returned. */
export function readTurnChange(returned: unknown): TurnChange | undefined {
  return schema.safeParse(returned ?? {}).data;
}

/** Applies changes to the settings of a turn: the newest prompt counts, tools and steps only become fewer. */
export function withTurnChange(
  config: TurnConfig,
  { activeTools, maxSteps, system, ...change }: TurnChange,
  turn: { readonly tools: readonly string[]; readonly maxSteps: number },
): TurnConfig {
  const offered = config.activeTools ?? turn.tools;
  return {
    ...config,
    ...change,
    ...(system !== undefined && { system }),
    ...(activeTools !== undefined && { activeTools: offered.filter((name) => activeTools.includes(name)) }),
    ...(maxSteps !== undefined && { maxSteps: Math.min(maxSteps, config.maxSteps ?? turn.maxSteps) }),
  };
}
