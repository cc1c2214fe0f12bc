import type { UIMessage } from "ai";
import { BOT_CODE_LIMIT_MS } from "../../core/time/bot-code.ts";
import { STEP_BREAK } from "../../core/turn/step-break.ts";
import { withinTime } from "../../core/time/within-time.ts";
import { recoveryOf } from "./recovery-settings.ts";
import type { ChatRecoveryContext, ChatRecoveryExhaustedContext } from "./recovery-settings.ts";
import { textOfParts } from "../reply-text.ts";
import type { TurnListener } from "../turn-events.ts";
import type { TurnHooks } from "../turn-hooks.ts";
import type { TurnEngineOptions } from "../turn-engine-options.ts";

interface RecoveriesParts extends Omit<TurnEngineOptions, "hooks"> {
  readonly hooks: TurnHooks;
}

/** An interrupted call, as the harness passes it. */
export interface Interruption {
  readonly operationId: string;
  readonly attempt: number;
  readonly partial: UIMessage | undefined;
}

/**
 * - `continue`: the model goes on with its text so far
 * - `restart`: the text so far is dropped, and the call is made again
 * - `abandon`: the turn ends with its text so far
 */
export type RecoveryDecision = "continue" | "restart" | "abandon";

/** Decides whether a turn goes on after the process died in the middle of a model call, and how. */
export class Recoveries {
  readonly #options: RecoveriesParts;

  constructor(options: RecoveriesParts) {
    this.#options = options;
  }

  /** Stores the tokens of turns that have a limit: the process that they end with does not know them any more. */
  readonly listener: TurnListener = (event) => {
    if (event.kind !== "model-ended") return;
    const { settings, turns } = this.#options;
    const { input = 0, output = 0 } = event.usage;
    if (recoveryOf(settings).maxTokens !== undefined && input + output > 0)
      turns().addTokens(event.turnId, input + output);
  };

  async decide(interruption: Interruption): Promise<RecoveryDecision> {
    const { hooks, settings } = this.#options;
    const { operationId } = interruption;
    const context = this.#contextOf(interruption);
    const limit = this.#limitOf(context);
    if (limit !== undefined) return this.#abandon(context, limit);
    const asked = await hooks.run(operationId, "onChatRecovery", context);
    const wanted = (asked.ok ? asked.value : undefined) ?? {};
    if (wanted.continue === false) return this.#abandon(context, "recovery_aborted");
    const persist = wanted.persist ?? settings.interruptedStep === "continue";
    return persist ? "continue" : "restart";
  }

  /** What the person reads at the end of a turn that did not go on. Undefined: the text of the messenger. */
  get terminalMessage(): string | undefined {
    return recoveryOf(this.#options.settings).terminalMessage;
  }

  #limitOf({
    attempt,
    createdAt,
    maxAttempts,
    requestId,
  }: ChatRecoveryContext): ChatRecoveryExhaustedContext["reason"] | undefined {
    const { clock, settings, turns } = this.#options;
    const { maxAgeMs = Number.POSITIVE_INFINITY, maxTokens } = recoveryOf(settings);
    if (attempt > maxAttempts) return "max_attempts_exceeded";
    if (clock.now() - createdAt > maxAgeMs) return "max_age_exceeded";
    if (maxTokens === undefined || turns().usedTokens(requestId) < maxTokens) return undefined;
    return "max_tokens_exceeded";
  }

  async #abandon(
    context: ChatRecoveryContext,
    reason: ChatRecoveryExhaustedContext["reason"],
  ): Promise<"abandon"> {
    const { clock, hooks, inTurn, settings } = this.#options;
    const { onExhausted } = recoveryOf(settings);
    const ended = { ...context, reason, terminalMessage: this.terminalMessage };
    try {
      const work = inTurn(context.requestId, () => onExhausted?.(ended));
      await withinTime(clock, BOT_CODE_LIMIT_MS, work, "onExhausted()");
    } catch (error) {
      hooks.failed(context.requestId, "onExhausted", error);
    }
    return "abandon";
  }

  #contextOf({ attempt, operationId, partial }: Interruption): ChatRecoveryContext {
    const { clock, hooks, settings, turns } = this.#options;
    const parts = partial?.parts ?? [];
    return {
      incidentId: operationId,
      requestId: operationId,
      attempt,
      maxAttempts: recoveryOf(settings).maxAttempts,
      recoveryKind: partial === undefined ? "retry" : "continue",
      partialText: textOfParts(parts).replaceAll(STEP_BREAK, ""),
      partialParts: structuredClone(parts),
      createdAt: turns().arrivedAt(operationId) ?? clock.now(),
      turn: hooks.turnInfo(operationId),
    };
  }
}
