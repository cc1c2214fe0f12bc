import type { ThinkActions } from "../actions/declare/action.ts";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import type { Feature } from "../feature/feature.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { TurnNews } from "../scheduled-runs/nudge-keeper.ts";
import type { Note } from "../core/chat/figures.ts";
import type { HealthWarning } from "../messengers/root/health/health-problem.ts";
import { conversationWarnings, taskWarnings } from "./chat/task-warnings.ts";
import { ObjectSchedules } from "./chat/object-schedules.ts";
import type { ScheduleCalls } from "./chat/schedule-calls.ts";
import { checkChatSchedules } from "./rules/chat-schedule.ts";
import type { SchedulesObject } from "./rules/bot-methods.ts";
import { checkTasks } from "./rules/check-tasks.ts";
import { createPersonZoneStore, type PersonZoneStore, type ZonedPerson } from "./stored/person-zone-store.ts";

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
  readonly #host: SchedulesObject;
  #own: ObjectSchedules | undefined;
  #zones: PersonZoneStore | undefined;

  constructor(host: SchedulesObject) {
    this.#host = host;
  }

  /** Created when it is needed first. */
  get own(): ObjectSchedules {
    this.#own ??= new ObjectSchedules(this.#host);
    return this.#own;
  }

  start(): void {
    this.#host.later(() => void this.own.start());
  }

  work(): void {
    this.own.schedules.work();
  }

  isBusy(): boolean {
    return this.own.schedules.isBusy();
  }

  nextWakeAt(): number | undefined {
    return this.own.schedules.nextWakeAt();
  }

  commands(): ThinkCommands {
    return this.own.commands();
  }

  actions(): ThinkActions {
    return this.own.actions();
  }

  /** Declared tasks of the root and of conversations that keep failing. */
  warnings(notes: ReadonlyMap<string, Note>): HealthWarning[] {
    return [...taskWarnings(this.own), ...conversationWarnings(notes)];
  }

  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return this.own.pressed(press);
  }

  /** Changes scheduled tasks of this object. Resolves when that is durable. */
  async change<T>(body: (own: ObjectSchedules) => T): Promise<T> {
    await this.#host.ready();
    await this.own.start();
    const result = body(this.own);
    await this.#host.durable();
    return result;
  }

  /** @throws {ConfigurationError} `scheduled-task-invalid` */
  async reconcile(): Promise<void> {
    await this.#host.ready();
    await this.own.reconcile();
    await this.#host.durable();
  }

  async nudgeOccurrence(key: string, news?: TurnNews): Promise<void> {
    this.own.nudge(key, news);
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
