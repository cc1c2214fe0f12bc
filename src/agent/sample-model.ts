import { generateText, Output } from "ai";
import type { SampleRequest } from "../actions/declare/sample.ts";
import type { Sampler } from "../messengers/tools/bot-actions-host.ts";
import { ModelRests } from "../models/index.ts";
import type { ObjectHost } from "./object-host.ts";
import { turnModel } from "./turn-model.ts";
import type { ModelCallEnd } from "./turn-model.ts";

/**
 * Makes one call of the bot's model for an action. Returns its text, or a value of the schema. Its tokens count as those of
 * the turn, or of the person for whom the action runs outside of one.
 */
export async function sampleModel(
  {
    agent,
    deps,
    engine,
    env,
    log,
    thread,
  }: Pick<ObjectHost, "agent" | "deps" | "engine" | "env" | "log" | "thread">,
  sampler: Sampler,
  { maxOutputTokens, prompt, schema, system }: SampleRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const onCall = (call: ModelCallEnd): void => {
    const { code, cost, usage } = call;
    if ("turnId" in sampler) engine.events.emit(sampler.turnId, { kind: "model-ended", ...call });
    else if (code === undefined) {
      const used = { inputTokens: usage.input, outputTokens: usage.output, cost };
      thread.countTokens(sampler.payer, used, sampler.keepMs);
    }
  };
  const call = {
    model: turnModel({ agent, deps, env, rests: new ModelRests(), log, onCall }, undefined, undefined),
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
