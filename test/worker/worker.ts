import { DurableObject } from "cloudflare:workers";
import type { ToolSet } from "ai";
import { Think } from "../../src/index.ts";
import type { ThinkCommands } from "../../src/index.ts";
import type { ThinkMessengers } from "../../src/messengers/index.ts";
import type { World } from "./support/world.ts";
import { worldOf } from "./support/world.ts";

/** A bare object with SQLite, for tests that bring their own logic through `runInDurableObject`. */
export class TestObject extends DurableObject {}

/** A bot that overrides nothing. */
export class BareBot extends Think {}

/** A bot whose every method is what the test of its root says: see `createWorld`. */
export class ScriptedBot extends Think {
  // oxlint-disable-next-line typescript/explicit-module-boundary-types -- the constructor of a Durable Object
  constructor(...[context, env]: ConstructorParameters<typeof Think>) {
    super(context, env);
    const { settings } = worldOf(context.id.name ?? "");
    Object.assign(this, settings);
  }

  override getModel(): ReturnType<Think["getModel"]> {
    return this.#world().getModel(this);
  }

  override getSystemPrompt(): string | Promise<string> {
    return this.#world().getSystemPrompt(this);
  }

  override getTools(): ToolSet | Promise<ToolSet> {
    return this.#world().getTools(this);
  }

  override getMessengers(): ThinkMessengers {
    return this.#world().getMessengers();
  }

  override getCommands(): ThinkCommands {
    return this.#world().commands;
  }

  override async onStart(): Promise<void> {
    await this.#world().onStart?.(this);
  }

  override async onConnect(): Promise<void> {
    await this.#world().onConnect?.();
  }

  override getConnectionTags(): string[] {
    return this.#world().connectionTags?.() ?? [];
  }

  override onRequest(request: Request): Response | Promise<Response> {
    return this.#world().onRequest?.(request, this) ?? super.onRequest(request);
  }

  #world(): World {
    return worldOf(this.name);
  }
}

export default {
  fetch: (): Response => new Response("test worker"),
};
