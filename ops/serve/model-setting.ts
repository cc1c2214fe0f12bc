import type { WorkerConfig } from "./worker-config.ts";

type Environment = Readonly<Record<string, unknown>>;

/** Advice for a bot whose variables name no model. */
export const SET_A_MODEL =
  "Set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL; or set ANTHROPIC_API_KEY; or bind Workers AI as AI. " +
  "Only `switchboard dev` answers without one, with a demo.";

const NAMES = ["OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/** Whether a bot's variables or configuration name a model. A bot may also make its own in `getModel()`. */
export function namesModel(environment: Environment, config: WorkerConfig): boolean {
  const values = { ...config.variables, ...environment };
  return NAMES.some((name) => Boolean(values[name])) || config.unsupported.includes("ai");
}
