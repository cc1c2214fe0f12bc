import type { ThinkTurnConfig } from "agents/harness/think";
import type { LanguageModel, ModelMessage, StepResult, ToolSet, UIMessage } from "ai";
import { isContinuation } from "../core/turn/turn-info.ts";
import { withSettings } from "./model/call-settings.ts";
import type { ModelLimits } from "./model/model-limits.ts";
import type { StepConfig, TurnConfig } from "./hooks.ts";
import { hasOpenCalls, stepContextsOf } from "./model/step-contexts.ts";
import type { CallFacts } from "./model/step-contexts.ts";
import type { ModelInstance, TurnEngineOptions } from "./turn-engine-options.ts";
import type { TurnHooks } from "./turn-hooks.ts";
import { modelLimits, toolLimitMs } from "./recovery/turn-timeouts.ts";

interface TurnConfigsParts extends Omit<TurnEngineOptions, "hooks" | "model"> {
  readonly hooks: TurnHooks;
  /** Returns the guarded model for one call of an operation: the bot's, or `instead`. */
  readonly model: (
    operationId: string,
    instead: LanguageModel | undefined,
    how?: ModelCallLimits,
  ) => Promise<ModelInstance>;
}

/** Limits of one model call. Absent ones are the bot's. */
export interface ModelCallLimits {
  readonly limits?: ModelLimits;
  readonly maxRetries?: number | undefined;
}

/** A model call that is about to be made. */
export interface NextCall {
  readonly operationId: string;
  readonly stepNumber: number;
  readonly messages: readonly ModelMessage[];
  /** The answer so far. */
  readonly answer: UIMessage | undefined;
}

/** The result of `beforeTurn`, and facts about the calls that this process has made. */
interface Known {
  readonly config: TurnConfig;
  readonly facts: Map<number, CallFacts>;
  /** When `beforeTurn` was called, in epoch milliseconds. */
  readonly beganAt: number;
  /** The step whose tools run, and whose `onStepFinish` therefore comes later. */
  open?: number | undefined;
  /** The number of messages of the answer that `beforeTurn` has seen. Undefined before the first call of this process. */
  seen?: number;
}

/**
 * Applies the changes that the bot's hooks make to turns. `beforeTurn` is called once per turn and process; its result
 * holds for all further calls.
 */
export class TurnConfigs {
  readonly #options: TurnConfigsParts;
  readonly #known = new Map<string, Known>();

  constructor(options: TurnConfigsParts) {
    this.#options = options;
  }

  /** Calls `beforeTurn`, unless it was called before. Returns the tools that it adds to the bot's own. */
  async begin(
    operationId: string,
    tools: ToolSet,
    assembled: () => Promise<{ system: string; messages: readonly ModelMessage[]; restarted: boolean }>,
  ): Promise<ToolSet> {
    const { hooks, model } = this.#options;
    const known = this.#known.get(operationId);
    if (known !== undefined) return known.config.tools ?? {};
    const facts = new Map<number, CallFacts>();
    const beganAt = this.#options.clock.now();
    if (!hooks.has("beforeTurn")) {
      this.#known.set(operationId, { config: {}, facts, beganAt });
      return {};
    }
    const turn = hooks.turnInfo(operationId);
    const context = {
      ...(await assembled()),
      tools,
      model: await model(operationId, undefined),
      continuation: isContinuation(turn),
      turn,
    };
    const asked = await hooks.run(operationId, "beforeTurn", context);
    const config = asked.ok ? (asked.value ?? {}) : {};
    this.#known.set(operationId, { config, facts, beganAt });
    return config.tools ?? {};
  }

  /** Returns the settings of the next model call, or the way in which the turn ends if it has made enough calls. */
  async next({
    answer,
    messages,
    operationId,
    stepNumber,
  }: NextCall): Promise<ThinkTurnConfig | "parking" | "out-of-steps"> {
    const { hooks, model } = this.#options;
    const known = this.#of(operationId);
    const { beganAt, config, facts } = known;
    await this.toolsEnded(operationId, answer);
    if (stepNumber > 0) {
      if (stepNumber >= (config.maxSteps ?? this.#options.maxSteps(operationId))) return "out-of-steps";
      if (await this.#hasEnough(operationId, answer)) return "parking";
    }
    const needsModel = hooks.has("beforeStep") || hooks.has("onStepFinish") || Object.keys(config).length > 0;
    if (!needsModel) return { messages: [...messages] };
    const how = {
      limits: modelLimits(config, beganAt, this.#options.clock.now()),
      maxRetries: config.maxRetries,
    };
    const base = await model(operationId, config.model, how);
    const said = stepNumber === 0 ? [] : messages.slice(messages.findLastIndex(isQuestion) + 1);
    known.seen ??= said.length;
    const given = config.messages === undefined ? messages : [...config.messages, ...said.slice(known.seen)];
    const steps = answer === undefined ? [] : this.#steps(operationId, answer);
    const turn = hooks.turnInfo(operationId);
    const asked = await hooks.run(operationId, "beforeStep", {
      stepNumber,
      steps,
      model: base,
      messages: given,
      turn,
    });
    const step: StepConfig = asked.ok ? (asked.value ?? {}) : {};
    const chosen = step.model === undefined ? base : await model(operationId, step.model, how);
    const { activeTools, providerOptions, system, toolChoice } = { ...config, ...withoutUndefined(step) };
    return {
      model: withSettings(chosen, config, (fact) => keepFacts(facts, stepNumber, fact)),
      messages: [...(step.messages ?? given)],
      ...(system !== undefined && { system }),
      ...(activeTools !== undefined && { activeTools }),
      ...(toolChoice !== undefined && { toolChoice }),
      ...(providerOptions !== undefined && { providerOptions }),
      ...(config.maxOutputTokens !== undefined && { maxOutputTokens: config.maxOutputTokens }),
      ...(config.temperature !== undefined && { temperature: config.temperature }),
    };
  }

  /** Called when a model call has ended and its message is stored. Its tools run next, if it calls any. */
  async finished(operationId: string, stepNumber: number, message: UIMessage): Promise<void> {
    if (!this.#options.hooks.has("onStepFinish")) return;
    const known = this.#known.get(operationId);
    if (known !== undefined && hasOpenCalls(message)) known.open = stepNumber;
    else await this.#report(operationId, stepNumber, message);
  }

  /** Called when the tools of a step have ended, or the turn has. Reports the step, unless that was done before. */
  async toolsEnded(operationId: string, answer: UIMessage | undefined): Promise<void> {
    const known = this.#known.get(operationId);
    if (known?.open === undefined || answer === undefined) return;
    const stepNumber = known.open;
    known.open = undefined;
    await this.#report(operationId, stepNumber, answer);
  }

  /** Returns how often failed model calls of an operation are made again. Undefined: as the bot says. */
  maxRetries(operationId: string): number | undefined {
    return this.#of(operationId).config.maxRetries;
  }

  /** Returns the model's longest silence in mid-answer, in milliseconds. Undefined: as the bot says. */
  stallTimeoutMs(operationId: string): number | undefined {
    const { beganAt, config } = this.#of(operationId);
    return modelLimits(config, beganAt, beganAt).stallTimeoutMs;
  }

  /** Returns the longest time of a tool call that begins now, in milliseconds. Undefined for no limit. */
  toolLimitMs(operationId: string, toolName: string): number | undefined {
    const { beganAt, config } = this.#of(operationId);
    return toolLimitMs(config, toolName, beganAt, this.#options.clock.now());
  }

  async #report(operationId: string, stepNumber: number, message: UIMessage): Promise<void> {
    const { hooks } = this.#options;
    const step = this.#steps(operationId, message)[stepNumber];
    if (step !== undefined) await hooks.run(operationId, "onStepFinish", step);
  }

  sendsReasoning(operationId: string): boolean {
    return this.#of(operationId).config.sendReasoning ?? this.#options.settings.sendReasoning;
  }

  forget(operationId: string): void {
    this.#known.delete(operationId);
  }

  async #hasEnough(operationId: string, answer: UIMessage | undefined): Promise<boolean> {
    const { stopWhen } = this.#of(operationId).config;
    if (stopWhen === undefined || answer === undefined) return false;
    const steps = this.#steps(operationId, answer) as unknown as StepResult<ToolSet>[];
    try {
      for (const condition of [stopWhen].flat()) if (await condition({ steps })) return true;
    } catch (error) {
      this.#options.hooks.failed(operationId, "beforeTurn.stopWhen", error);
    }
    return false;
  }

  #steps(operationId: string, answer: UIMessage): ReturnType<typeof stepContextsOf> {
    const { facts } = this.#of(operationId);
    return stepContextsOf(answer, this.#options.hooks.turnInfo(operationId), (step) => facts.get(step));
  }

  #of(operationId: string): Known {
    return (
      this.#known.get(operationId) ?? { config: {}, facts: new Map(), beganAt: this.#options.clock.now() }
    );
  }
}

/** Keeps the facts of a step. Only the newest one keeps its request, which holds the whole transcript. */
function keepFacts(facts: Map<number, CallFacts>, stepNumber: number, said: CallFacts): void {
  for (const [step, { request: _request, ...earlier }] of facts) facts.set(step, earlier);
  facts.set(stepNumber, said);
}

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Partial<T>;
}

/** What the model has said and done since then belongs to its present answer. */
function isQuestion({ role }: ModelMessage): boolean {
  return role === "user" || role === "system";
}
