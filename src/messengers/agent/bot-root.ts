import type { ToolSet } from "ai";
import type { Broadcast } from "../../broadcasts/broadcast.ts";
import type { NewBroadcast } from "../../broadcasts/broadcasts.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { BotFacts } from "../../core/messenger.ts";
import { createBotBudget } from "../../../delivery/index.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import { checkChatSchedules, checkTasks, createPersonZoneStore } from "../../schedules/index.ts";
import type { PersonZoneStore, ZonedPerson } from "../../schedules/index.ts";
import { checkTexts } from "../declare/check-texts.ts";
import { menuOf } from "../declare/commands.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { answerSafely } from "../root/answer-safely.ts";
import { ApprovalIndex } from "../root/approval-index.ts";
import { BotHealth } from "../root/bot-health.ts";
import type { HealthWarning } from "../root/health-problem.ts";
import { RootRuntime } from "../root/root-runtime.ts";
import type { AgentMethods } from "./agent-methods.ts";
import type { BotMetrics } from "./bot-metrics.ts";
import type { BotObjects } from "./bot-objects.ts";
import type { BroadcastDesk } from "./broadcast-desk.ts";
import type { ChannelPolicies } from "./channel-policies.ts";
import { HookDesk } from "./hook-desk.ts";
import type { ZoneCalls } from "./person-zones.ts";
import { checkModel, checkModels, describeModel } from "./turn-model.ts";

export interface BotRootOptions {
  readonly agent: AgentMethods;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly env: object;
  readonly messengers: DeclaredMessengers;
  readonly objects: BotObjects;
  readonly metrics: BotMetrics;
  readonly channels: Pick<ChannelPolicies, "check">;
  readonly broadcasts: () => Pick<BroadcastDesk, "moved" | "startBroadcast">;
  /** The commands of the bot and of the product. */
  readonly commands: () => ThinkCommands;
  /** The tools that the bot declares. */
  readonly declaredTools: () => ToolSet | Promise<ToolSet>;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/**
 * The root's object: what only it has, for the whole bot. Webhooks, health and figures, the rate over all chats, the
 * approvals of all conversations, and people's time zones. Each part is created when it is needed first, so the objects
 * of conversations never have the tables of these parts.
 */
export class BotRoot implements ZoneCalls {
  readonly health: BotHealth;
  readonly #options: BotRootOptions;
  #runtime: RootRuntime | undefined;
  #budget: RootBudget | undefined;
  #approvals: ApprovalIndex | undefined;
  #zones: PersonZoneStore | undefined;

  constructor(options: BotRootOptions) {
    this.#options = options;
    const { agent, channels, declaredTools, env, log, messengers } = options;
    this.health = new BotHealth({
      log,
      messengers,
      getModel: () => checkModel(agent, env),
      checkModel: () => checkModels(agent, env),
      getTools: () => declaredTools(),
      checkChannels: () => channels.check(),
      checkSchedules: () => {
        checkTasks(agent.getScheduledTasks(), agent.getDefaultTimezone());
        checkChatSchedules(agent.chatSchedules);
      },
      checkTexts: () => checkTexts(agent.texts),
      root: () => this.runtime,
    });
  }

  /** Webhooks, and the directories of chats and conversations. */
  get runtime(): RootRuntime {
    const { broadcasts, commands, database, deps, log, messengers, objects, waitUntil } = this.#options;
    this.#runtime ??= new RootRuntime({
      database,
      deps,
      log,
      messengers,
      commands: () => menuOf(commands()),
      onMoved: (...moved) => broadcasts().moved(...moved),
      later: (work) => waitUntil(work()),
      observe: (...seen) => this.budget.noteIncoming(...seen),
      deliver: (conversation, ...events) => objects.callsTo(conversation).receiveEvents(...events),
      hasEvent: (conversation, ...event) => objects.callsTo(conversation).hasEvent(...event),
    });
    return this.#runtime;
  }

  /** The rate of this bot over all its chats. */
  get budget(): RootBudget {
    this.#budget ??= createBotBudget(this.#options);
    return this.#budget;
  }

  /** Requests that wait for people in all conversations. */
  get approvals(): ApprovalIndex {
    const { agent, database, deps, objects } = this.#options;
    this.#approvals ??= new ApprovalIndex({
      database,
      clock: deps.clock,
      callsTo: (conversation) => objects.callsTo(conversation),
      keepMs: () => agent.keepApprovalsMs,
      titleOf: (...chat) => this.runtime.titleOf(...chat),
      titleOfConversation: (name) => this.runtime.titleOfConversation(name),
    });
    return this.#approvals;
  }

  async zoneOfPerson(person: ZonedPerson): Promise<string | undefined> {
    return this.#personZones().get(person);
  }

  async rememberZone(person: ZonedPerson, zone: string): Promise<void> {
    this.#personZones().set(person, zone, this.#options.deps.clock.now());
  }

  #personZones(): PersonZoneStore {
    this.#zones ??= createPersonZoneStore(this.#options.database);
    return this.#zones;
  }

  /** Returns what an operator should look at. */
  warnings(): HealthWarning[] {
    return this.runtime.warnings(this.#options.metrics.notes());
  }

  /** Describes the bot to its operator. */
  describe(): BotFacts {
    return { model: describeModel(this.#options.agent), messengers: this.runtime.messengers() };
  }

  /** Returns the figures of the whole bot in Prometheus' text format. */
  async figures(): Promise<string> {
    const isReady = (await this.health.problem()) === undefined;
    return this.#options.metrics.render({ ...this.runtime.counts(), isReady });
  }

  /** Answers a webhook of a platform or a call of the bot's own hooks. Undefined if the request is for neither. */
  handle(request: Request): Promise<Response | undefined> {
    const { broadcasts, log, metrics } = this.#options;
    const start = (asked: NewBroadcast): Promise<Broadcast> => broadcasts().startBroadcast(asked);
    return answerSafely(log, "webhook", async () => {
      const answer = await metrics.webhook(() => this.runtime.handle(request));
      return answer ?? new HookDesk({ ...this.#options, start }).handle(request);
    });
  }
}
