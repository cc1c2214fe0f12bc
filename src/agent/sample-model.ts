import { generateText, Output } from "ai";
import type { SampleRequest } from "../actions/sample.ts";
import type { TokenUsage } from "../core/token-usage.ts";
import { costOf } from "../core/used-tokens.ts";
import { ModelRests } from "../models/index.ts";
import type { ObjectHost } from "./object-host.ts";
import { turnModel } from "./turn-model.ts";

/** Makes one call of the bot's model for an action. Returns its text, or a value of the schema. */
export async function sampleModel(
  { agent, deps, engine, env, log }: Pick<ObjectHost, "agent" | "deps" | "engine" | "env" | "log">,
  turnId: string,
  { maxOutputTokens, prompt, schema, system }: SampleRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const onUsage = (usage: TokenUsage, modelId: string): void =>
    engine.stats.countTokens(turnId, usage, costOf(agent.modelPrices, modelId, usage));
  const call = {
    model: turnModel({ agent, deps, env, rests: new ModelRests(), log, onUsage }, undefined, undefined),
    prompt,
    abortSignal: signal,
    // The action decides about another try.
    maxRetries: 0,
    ...(system !== undefined && { system }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
  if (schema === undefined) return (await generateText(call)).text;
  return (await generateText({ ...call, output: Output.object({ schema }) })).output;
}
