import type { AgentContext } from "agents";
import type { ObservabilityEvent } from "agents/observability";
import { agentEventsOf } from "../log/agent-events.ts";
import { logBotFailure } from "../core/time/bot-code.ts";
import { durableDatabase } from "../core/store/database.ts";
import { systemDeps } from "../core/base/deps.ts";
import { countedLog, figuresOf } from "../core/chat/figures.ts";
import type { FigureReport, Figures } from "../core/chat/figures.ts";
import type { Log, LogFields } from "../core/base/log.ts";
import { observedLog } from "../log/observed-log.ts";
import { storedLog } from "../log/stored-log.ts";
import { guardVersions } from "./store-versions.ts";
import type { ThinkHooks } from "../turn/hooks.ts";
import type { TurnEngine } from "../turn/turn-engine.ts";
import { rootNameOf } from "../messengers/declare/conversation-name.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { agentNamespace } from "./agent-namespace.ts";
import type { AgentNamespace } from "./agent-namespace.ts";
import { AgentRuntime } from "./agent-runtime.ts";
import { createConversationEngine } from "./conversation-engine.ts";
import type { AnyFeature } from "./features.ts";
import type { InnerDoor } from "../core/chat/inner-calls.ts";
import { keepRootClass, nameOf, rootClassOf } from "./object-name.ts";

export interface RuntimePlace {
  readonly ctx: AgentContext;
  readonly env: object;
  readonly log: Log;
  readonly hooks: () => Partial<ThinkHooks>;
  /** Makes the Lifecycle of the object use the harness of its engine. */
  readonly use: (harness: TurnEngine["harness"]) => void;
  /** The name of the object, if its context has none. */
  readonly name: () => string;
  /** The name of the bot's class. */
  readonly self: string;
  readonly features: readonly AnyFeature[];
}

/** Creates the runtime of an agent object on the storage, the clock and the namespace of its platform. */
export function runtimeOf(
  agent: AgentMethods,
  { ctx, env, features, hooks, log, name, self, use }: RuntimePlace,
): AgentRuntime {
  const namespaces = new Map<string, AgentNamespace>();
  const ownName = (): string => nameOf(ctx) ?? name();
  const figures = (): Figures => figuresOf(rootNameOf(ownName()));
  /**
   * Publishes lines of the log as events of `agents/observability`. An observer of the bot's own must not disturb that.
   */
  const observe = (event: string, fields: LogFields): void => {
    if (agent.observability === undefined) return;
    try {
      for (const { payload, type } of agentEventsOf(event, fields)) {
        const published = { type, agent: self, name: ownName(), payload, timestamp: systemDeps.clock.now() };
        agent.observability.emit(published as ObservabilityEvent);
      }
    } catch (error) {
      logBotFailure(log, "observability", error);
    }
  };
  const runtime = new AgentRuntime({
    agent,
    engine: (object) => {
      const engine = createConversationEngine(object, () => object.features.wrapHooks(hooks()));
      use(engine.harness);
      return engine;
    },
    name: ownName,
    database: guardVersions(durableDatabase(ctx.storage)),
    deps: systemDeps,
    log: storedLog(
      observedLog(
        countedLog(log, figures, () => systemDeps.clock.now()),
        observe,
      ),
      () => ctx.storage.sync(),
    ),
    env,
    className: self,
    rootClass: () => rootClassOf(ctx.storage) ?? self,
    belongTo: (rootClass) => keepRootClass(ctx.storage, rootClass),
    stub: (className, to) => {
      const namespace = namespaces.get(className) ?? agentNamespace(ctx, env, className);
      namespaces.set(className, namespace);
      const door = namespace.getByName(to);
      return to.includes("/") ? door : withFigures(door, () => figures().take());
    },
    waitUntil: (work) => ctx.waitUntil(work),
    features,
  });
  return runtime;
}

/** Returns a root's door that takes along what this process has counted, so that no figure costs a call. */
function withFigures(door: InnerDoor, figures: () => FigureReport | undefined): InnerDoor {
  return { inner: (method, args) => door.inner(method, args, figures()) };
}
