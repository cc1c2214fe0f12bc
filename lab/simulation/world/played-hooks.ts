import type { ObjectHost } from "../../../src/agent/object-host.ts";
import { isFailure } from "../../../src/actions/declare/action-errors.ts";
import type { ThinkHooks } from "../../../src/turn/hooks.ts";
import type { Life } from "../machine/life.ts";
import type { StoredOperation } from "../oracle/contract.ts";
import type { ExtensionWatch } from "../oracle/extension-watch.ts";

export interface PlayedHooksOptions {
  readonly life: Life;
  readonly object: ObjectHost;
  readonly watch: ExtensionWatch;
}

/** Calls the hooks of extensions where the turn engine calls them. Other bots of the simulation have no hooks. */
export class PlayedHooks {
  readonly #options: PlayedHooksOptions;

  constructor(options: PlayedHooksOptions) {
    this.#options = options;
  }

  async beforeTurn({ id }: StoredOperation): Promise<void> {
    const turn = this.#options.object.thread.own.info(id);
    await this.#call("beforeTurn", {
      system: "Prompt.",
      tools: {},
      messages: [],
      model: "played",
      continuation: false,
      turn,
    });
  }

  async aroundCall(toolName: string, input: unknown, work: () => Promise<unknown>): Promise<unknown> {
    const call = { toolName, toolCallId: "0", input, stepNumber: 0 };
    await this.#call("beforeToolCall", call);
    const output = await work();
    const end = isFailure(output) ? { success: false, error: output.error } : { success: true, output };
    await this.#call("afterToolCall", { ...call, durationMs: 1, ...end });
    return output;
  }

  onStep(text: string): void {
    const none = { toolCalls: [], toolResults: [], usage: {} };
    this.#beside("onStepFinish", { stepNumber: 0, finishReason: "stop", text, ...none });
  }

  onChunk(text: string): void {
    this.#beside("onChunk", { chunk: { type: "text-delta", id: "0", text } });
  }

  /** The turn does not wait for it. */
  #beside(name: keyof ThinkHooks, context: object): void {
    void this.#options.life.guard(() => this.#call(name, context));
  }

  async #call(name: keyof ThinkHooks, context: object): Promise<void> {
    const { life, object, watch } = this.#options;
    await object.features.loadActions();
    const hook = object.features.wrapHooks({})[name];
    if (hook === undefined || life.isDead) return;
    const began = life.clock.now();
    let thrown: unknown;
    try {
      await hook(context as never, context as never);
    } catch (error) {
      thrown = error;
    }
    if (!life.isDead) watch.hooked(name, life.clock.now() - began, thrown);
  }
}
