import type { UIMessage } from "ai";
import type { Delivery } from "../../core/delivery.ts";
import type { LegReport, LegRequest } from "../../schedules/index.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import { recitedText, recitingMessage } from "../turns/recited-text.ts";
import type { OwnTurns } from "./own-turns.ts";

export interface ScheduledTurnsOptions {
  readonly own: () => OwnTurns;
  readonly delivery: () => Pick<Delivery, "receipt">;
  readonly engine: () => Pick<TurnEngine, "outcome" | "stats">;
  readonly session: () => string;
  /** Whether an action of this turn waits for somebody's decision. */
  readonly isWaiting: (turnId: string) => boolean;
  /** Resolves when what was stored is sure to be worked on, also after a crash. */
  readonly stored: () => Promise<void>;
}

/** The turns of scheduled tasks in one conversation. They wait in its queue beside everything else. */
export class ScheduledTurns {
  readonly #options: ScheduledTurnsOptions;

  constructor(options: ScheduledTurnsOptions) {
    this.#options = options;
  }

  /** Stores a turn, unless it is known. Resolves when it is durable. */
  async submit({ address, id, metadata, prompt, recites }: LegRequest): Promise<void> {
    const question: UIMessage =
      recites === undefined
        ? { id, role: "user", parts: [{ type: "text", text: prompt }] }
        : recitingMessage(id, prompt, recites);
    this.#options.own().submit({
      kind: "prompt",
      id,
      messages: [question],
      answerTo: address === undefined ? [] : [address],
      metadata,
    });
    await this.#options.stored();
  }

  async report(id: string): Promise<LegReport> {
    const { isWaiting, own } = this.#options;
    const prompt = own().prompts.get(id);
    if (prompt === undefined) return { state: "failed", code: "turn-lost" };
    const usage = this.#usageOf(id);
    switch (prompt.state) {
      case "pending":
      case "running":
        return { state: "open" };
      case "aborted":
        return { state: "failed", code: "stopped", messageIds: this.#messages(id).ids, usage };
      case "error":
        return {
          state: "failed",
          code: prompt.error ?? "turn-failed",
          messageIds: this.#messages(id).ids,
          usage,
        };
      case "completed":
        if (isWaiting(id)) return { state: "waiting" };
        if (prompt.answerTo.length === 0) return { state: "completed", text: await this.#textOf(id), usage };
        return { ...this.#delivered(id), usage };
    }
  }

  /** The state of a card that was posted in this object. */
  reportCard(id: string): LegReport {
    return this.#delivered(id);
  }

  /** Returns the answer that is known without asking the model. */
  recited(turnId: string): string | undefined {
    return recitedText(this.#options.own().prompts.get(turnId)?.messages ?? []);
  }

  #delivered(id: string): LegReport {
    const { code, ids, state } = this.#messages(id);
    switch (state) {
      case undefined:
      case "delivered":
      case "withdrawn":
        return { state: "completed", messageIds: ids };
      case "gone":
      case "failed":
        return { state: "failed", code: code ?? state, messageIds: ids };
      case "streaming":
      case "final":
        return { state: "open" };
    }
  }

  /** The reply of a prompt to its first chat has the id of the prompt. */
  #messages(id: string): {
    readonly state: NonNullable<ReturnType<Delivery["receipt"]>>["state"] | undefined;
    readonly ids: readonly string[];
    readonly code: string | undefined;
  } {
    const receipt = this.#options.delivery().receipt(id);
    const shown = receipt?.messages.filter(({ state }) => state === "sent") ?? [];
    return {
      state: receipt?.state,
      ids: shown.flatMap(
        ({ messageId, messageIds }) => messageIds ?? (messageId === undefined ? [] : [messageId]),
      ),
      code: receipt?.code,
    };
  }

  async #textOf(id: string): Promise<string> {
    const { engine, own, session } = this.#options;
    const outcome = await engine().outcome(id, own().sessionOf(id) ?? session());
    return "text" in outcome ? outcome.text : "";
  }

  #usageOf(id: string): LegReport["usage"] {
    const { inputTokens, outputTokens } = this.#options.engine().stats.of(id);
    if (inputTokens === undefined && outputTokens === undefined) return undefined;
    return { input: inputTokens, output: outputTokens };
  }
}
