import { DurableObject } from "cloudflare:workers";
import type { ToolSet } from "ai";
import { Agent } from "agents";
import { consoleLogOf } from "../../src/log/console-log.ts";
import { durableDatabase } from "../../src/core/store/database.ts";
import { systemDeps } from "../../src/core/base/deps.ts";
import { Think } from "../../src/index.ts";
import type {
  ActionCallContext,
  ActionTurnContext,
  ThinkActions,
  ThinkCommands,
  ThinkScheduledTasks,
} from "../../src/index.ts";
import { AgentRuntime } from "../../src/agent/agent-runtime.ts";
import { createConversationEngine } from "../../src/agent/conversation-engine.ts";
import { FEATURES } from "../../src/agent/features.ts";
import type { ThinkMessengers } from "../../src/messengers/index.ts";
import { agentSchema } from "./support/agent-schema.ts";
import { testEnv } from "./test-env.ts";
import type { World } from "./support/world.ts";
import { worldOf } from "./support/world.ts";

/** A bare object with SQLite, for tests that bring their own logic through `runInDurableObject`. */
export class TestObject extends DurableObject {}

/** A bot that overrides nothing. */
export class BareBot extends Think {}

/** The runtime of a conversation, for what only other parts of the product can do. Its root is a `ScriptedBot`. */
export class RuntimeBot extends Agent {
  readonly runtime: AgentRuntime;

  // oxlint-disable-next-line typescript/explicit-module-boundary-types -- the constructor of a Durable Object
  constructor(...[context, env]: ConstructorParameters<typeof Think>) {
    super(context, env);
    const name = context.id.name ?? "";
    const world = worldOf(name);
    const bot = this as unknown as Think;
    this.runtime = new AgentRuntime({
      agent: {
        maxSteps: 10,
        maxContextTokens: 60_000,
        keepDeliveriesMs: 60_000,
        interruptedStep: "restart",
        chatRecovery: true,
        contextOverflow: undefined,
        chatStreamStallTimeoutMs: 30_000,
        chatStreamFirstChunkTimeoutMs: 30_000,
        modelPatienceMs: 0,
        modelAttempts: 2,
        keepUsageMs: 0,
        keepApprovalsMs: 31_536_000_000,
        modelPrices: {},
        sendReasoning: true,
        getModel: () => world.getModel(bot),
        getSystemPrompt: () => world.getSystemPrompt(bot),
        getTools: () => world.getTools(bot),
        getActions: () => world.getActions(bot),
        authorizeTurn: () => true,
        authorizeAction: ({ isGranted }) => isGranted,
        actionLedgerPendingRetryLeaseMs: 300_000,
        actionTemplates: false,
        approvalWords: { yes: ["yes"], no: ["no"] },
        getMessengers: () => world.getMessengers(),
        getCommands: () => world.commands,
        getQuestions: () => ({}),
        chatSchedules: false,
        getScheduledTasks: () => ({}),
        getDefaultTimezone: () => undefined,
        onAction: () => undefined,
      },
      engine: (object) => {
        const engine = createConversationEngine(object, () => world.hooks);
        this.lifecycle.use(engine.harness);
        return engine;
      },
      name: () => name,
      database: durableDatabase(context.storage),
      deps: systemDeps,
      log: consoleLogOf({}),
      env: {},
      className: "ScriptedBot",
      rootClass: () => "ScriptedBot",
      belongTo: () => {},
      stub: (_class, other) => testEnv.ScriptedBot.getByName(other),
      waitUntil: (work) => context.waitUntil(work),
      features: FEATURES,
    });
    this.lifecycle.use(this.runtime);
  }
}

/** A bot whose every method is what the test of its root says: see `createWorld`. */
export class ScriptedBot extends Think {
  // oxlint-disable-next-line typescript/explicit-module-boundary-types -- the constructor of a Durable Object
  constructor(...[context, env]: ConstructorParameters<typeof Think>) {
    const keepSchema = agentSchema(context.storage);
    super(context, env);
    keepSchema();
    const { hooks, settings } = worldOf(context.id.name ?? "");
    Object.assign(this, settings, hooks);
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

  override getActions(): ThinkActions {
    return this.#world().getActions(this);
  }

  override authorizeTurn(context: ActionTurnContext): ReturnType<Think["authorizeTurn"]> {
    return this.#world().authorizeTurn?.(context) ?? super.authorizeTurn(context);
  }

  override authorizeAction(context: ActionCallContext): ReturnType<Think["authorizeAction"]> {
    return this.#world().authorizeAction?.(context) ?? super.authorizeAction(context);
  }

  override getMessengers(): ThinkMessengers {
    return this.#world().getMessengers();
  }

  override getCommands(): ThinkCommands {
    return this.#world().commands;
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    return this.#world().scheduledTasks(this);
  }

  override getDefaultTimezone(): string | undefined {
    return this.#world().defaultTimezone;
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

/** A second class of the same bot. */
export class OtherBot extends ScriptedBot {}

/** An agent that other agents call. It serves no messenger. */
export class ChildBot extends ScriptedBot {
  override getMessengers(): ThinkMessengers {
    return {};
  }
}

export default {
  fetch: (): Response => new Response("test worker"),
};
