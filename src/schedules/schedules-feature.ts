import type { ThinkActions } from "../actions/action.ts";
import type { CardPress, PressAnswer } from "../core/card-press.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { allChats } from "../messengers/root/all-chats.ts";
import { ROOT } from "../messengers/root/root-link.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { TurnNews } from "../scheduled-runs/nudge-keeper.ts";
import { SCHEDULED_RUNS } from "../scheduled-runs/scheduled-turns.ts";
import type { Note } from "../core/figures.ts";
import type { HealthWarning } from "../messengers/root/health-problem.ts";
import { conversationWarnings, taskWarnings } from "./chat/task-warnings.ts";
import { ScheduleDesk } from "./chat/schedule-desk.ts";
import type { ScheduleMethods } from "./chat/schedule-desk.ts";
import { SCHEDULES } from "./chat/schedule-calls.ts";
import type { ScheduleCalls } from "./chat/schedule-calls.ts";
import { checkChatSchedules } from "./rules/check-chat-schedules.ts";
import { checkTasks } from "./rules/check-tasks.ts";
import { createPersonZoneStore } from "./stored/person-zone-store.ts";
import type { PersonZoneStore, ZonedPerson } from "./stored/person-zone-store.ts";

/** The scheduled tasks of one object, declared ones and those that people make in its chats. */
export class SchedulesFeature implements Feature, ScheduleCalls {
  readonly name = "schedules";
  readonly calls: ScheduleCalls = this;
  readonly check = {
    method: "getScheduledTasks",
    run: (): void => {
      const { agent } = this.#host;
      checkTasks(agent.getScheduledTasks(), agent.getDefaultTimezone());
      checkChatSchedules(agent.chatSchedules);
    },
  };
  readonly #host: FeatureHost<ScheduleMethods>;
  #desk: ScheduleDesk | undefined;
  #zones: PersonZoneStore | undefined;

  constructor(host: FeatureHost<ScheduleMethods>) {
    this.#host = host;
  }

  /** Created when it is needed first. */
  get desk(): ScheduleDesk {
    const host = this.#host;
    const { agent, database, deps, objects } = host;
    const conversation = objects.conversation();
    // `/health` counts failures by conversation.
    const log = conversation === undefined ? host.log : host.log.with({ conversation });
    this.#desk ??= new ScheduleDesk({
      agent,
      database,
      deps,
      log,
      name: host.name(),
      conversation,
      address: objects.address(),
      root: () => objects.root(ROOT),
      zones: () => objects.root(SCHEDULES),
      broadcasts: () => host.features.manyChats,
      chats: () => allChats((filter) => host.directories.listChats(filter)),
      hasSubscribers: () => host.features.manyChats.hasSubscribers(),
      turnsOf: (conversation) => objects.to(SCHEDULED_RUNS, conversation),
      post: (id, address, content) => host.thread.postCard(id, address, content, this.name),
      reportCard: (id) => host.runs.reportCard(id),
      revise: (id, content) => void host.thread.cards.revise(id, content),
      isAnswered: (id) => host.thread.cards.store.read(id)?.buttons.length === 0,
      onChange: () => host.wakeSoon(),
    });
    return this.#desk;
  }

  start(): void {
    this.#host.later(() => void this.desk.start());
  }

  work(): void {
    this.desk.schedules.work();
  }

  isBusy(): boolean {
    return this.desk.schedules.isBusy();
  }

  nextWakeAt(): number | undefined {
    return this.desk.schedules.nextWakeAt();
  }

  commands(): ThinkCommands {
    return this.desk.commands();
  }

  actions(): ThinkActions {
    return this.desk.actions();
  }

  /** Declared tasks of the root and of conversations that keep failing. */
  warnings(notes: ReadonlyMap<string, Note>): HealthWarning[] {
    return [...taskWarnings(this.desk), ...conversationWarnings(notes)];
  }

  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return this.desk.pressed(press);
  }

  /** Changes scheduled tasks of this object. Resolves when that is durable. */
  async change<T>(body: (desk: ScheduleDesk) => T): Promise<T> {
    await this.#host.ready();
    await this.desk.ready();
    const result = body(this.desk);
    await this.#host.durable();
    return result;
  }

  /** @throws {ConfigurationError} `scheduled-task-invalid` */
  async reconcile(): Promise<void> {
    await this.#host.ready();
    await this.desk.reconcile();
    await this.#host.durable();
  }

  async nudgeOccurrence(key: string, news?: TurnNews): Promise<void> {
    this.desk.nudge(key, news);
  }

  async zoneOfPerson(person: ZonedPerson): Promise<string | undefined> {
    return this.#personZones().get(person);
  }

  async rememberZone(person: ZonedPerson, zone: string): Promise<void> {
    this.#personZones().set(person, zone, this.#host.deps.clock.now());
  }

  #personZones(): PersonZoneStore {
    this.#zones ??= createPersonZoneStore(this.#host.database);
    return this.#zones;
  }
}
