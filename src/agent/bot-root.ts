import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { BotFacts } from "../core/chat/messenger.ts";
import { RootBudget } from "../../delivery/index.ts";
import { checkTexts } from "../messengers/declare/check-texts.ts";
import { menuOf } from "../messengers/declare/commands.ts";
import { answerSafely } from "../messengers/root/answer-safely.ts";
import { BotHealth } from "../messengers/root/health/bot-health.ts";
import type { HealthProblem, HealthWarning } from "../messengers/root/health/health-problem.ts";
import { THREAD } from "../messengers/root/root-link.ts";
import { RootRuntime } from "../messengers/root/root-runtime.ts";
import { checkRecovery } from "../turn/recovery/recovery-settings.ts";
import type { ObjectHost } from "./object-host.ts";
import { unusedMembers, type UnusedMember } from "./unused-members.ts";
import { checkModel, checkModels, describeModel } from "./turn-model.ts";

/** The calls of an operator and of the Worker to the root. */
export interface BotCalls {
  healthProblem(): Promise<HealthProblem | undefined>;
  /** Returns what may keep the bot from answering soon. */
  healthWarnings(): Promise<readonly HealthWarning[]>;
  /** Describes the bot to its operator. */
  describeBot(): Promise<BotFacts>;
  /** Returns the figures of the whole bot in Prometheus' text format. */
  metrics(): Promise<string>;
}

export const BOT: CallGroup<BotCalls> = { name: "bot" };

/**
 * The root's object: what only it has, for the whole bot. Webhooks, health and figures, and the rate over all chats. Each
 * part is created when it is used first, so the objects of conversations never have the tables of these parts.
 */
export class BotRoot implements BotCalls {
  readonly #object: ObjectHost;
  readonly #waitUntil: (work: Promise<unknown>) => void;
  #health: BotHealth | undefined;
  #runtime: RootRuntime | undefined;
  #budget: RootBudget | undefined;
  /** Members of the bot's class that have no effect. */
  #unused: readonly UnusedMember[] = [];

  constructor(object: ObjectHost, waitUntil: (work: Promise<unknown>) => void) {
    this.#object = object;
    this.#waitUntil = waitUntil;
  }

  /** Webhooks, and the directories of chats and conversations. */
  get runtime(): RootRuntime {
    const object = this.#object;
    const { database, deps, log, messengers, objects } = object;
    if (this.#runtime === undefined) {
      this.#unused = unusedMembers(object.agent);
      for (const { member } of this.#unused) log.warn("bot.member-unused", { member });
    }
    this.#runtime ??= new RootRuntime({
      database,
      deps,
      log,
      messengers,
      commands: () => menuOf(object.commands(), object.agent.texts),
      onMoved: (...moved) => object.features.chatMoved(...moved),
      later: (work) => this.#waitUntil(work()),
      objects,
      observe: (...seen) => this.budget.noteIncoming(...seen),
      deliver: (conversation, ...events) => objects.to(THREAD, conversation).receiveEvents(...events),
      hasEvent: (conversation, ...event) => objects.to(THREAD, conversation).hasEvent(...event),
    });
    return this.#runtime;
  }

  /** The rate of this bot over all its chats. */
  get budget(): RootBudget {
    this.#budget ??= new RootBudget(this.#object);
    return this.#budget;
  }

  async healthProblem(): Promise<HealthProblem | undefined> {
    const { actions, agent, channels, env, features, log, messengers } = this.#object;
    this.#health ??= new BotHealth({
      log,
      messengers,
      getModel: () => checkModel(agent, env),
      checkModel: () => checkModels(agent, env),
      getTools: () => actions.declaredTools(),
      checks: [
        { method: "chatRecovery", run: () => checkRecovery(agent) },
        { method: "configureChannels", run: () => channels.check() },
        ...features.checks(),
        { method: "texts", run: () => checkTexts(agent.texts) },
      ],
    });
    return (await this.#health.problem()) ?? this.runtime.problem();
  }

  async healthWarnings(): Promise<HealthWarning[]> {
    const { features, metrics } = this.#object;
    const notes = metrics.notes();
    const { runtime } = this;
    return [...runtime.warnings(notes), ...features.warnings(notes), ...this.#unused];
  }

  async describeBot(): Promise<BotFacts> {
    return { model: describeModel(this.#object.agent), messengers: this.runtime.messengers() };
  }

  async metrics(): Promise<string> {
    const isReady = (await this.healthProblem()) === undefined;
    return this.#object.metrics.render({ ...this.runtime.counts(), isReady });
  }

  /** Answers a webhook of a platform, or a request for a feature. Undefined if the request is for neither. */
  handle(request: Request): Promise<Response | undefined> {
    const { features, log, metrics } = this.#object;
    return answerSafely(log, "webhook", async () => {
      const answer = await metrics.webhook(() => this.runtime.handle(request));
      return answer ?? features.handle(request);
    });
  }
}
