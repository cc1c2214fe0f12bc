import { sayTo } from "../../core/text/bot-texts.ts";
import type { CardContent } from "../../core/message/content.ts";
import type { Log } from "../../core/base/log.ts";
import type { Address } from "../../core/chat/surface.ts";
import { confirmationCard, listCard, zoneCard } from "./chat-cards.ts";
import { previewOf, taskOf, type ChatSchedule, type SchedulePerson } from "../rules/chat-schedule.ts";
import { needsZone, parseWhen } from "../rules/parse-when.ts";
import { createChatScheduleStore, type ChatScheduleStore } from "../stored/chat-schedule-store.ts";
import type { ScheduleRequest, ShownSchedule } from "./chat-cards.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Schedules } from "../runs/schedules.ts";
import type { ZonedPerson } from "../stored/person-zone-store.ts";
import { PersonZones } from "./person-zones.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import { SCHEDULES } from "./schedule-calls.ts";
import { ScheduleRights, type RequestPlace } from "./schedule-rights.ts";

export interface ChatSchedulesOptions {
  readonly host: Pick<SchedulesObject, "agent" | "database" | "deps" | "objects" | "thread">;
  readonly log: Log;
  readonly schedules: Schedules;
}

/** The result of a request, for the model or for the person who pressed. */
export type ScheduleResult =
  | {
      readonly kind: "done";
      readonly shown?: ShownSchedule | undefined;
      /** Whether it was made just now, and a card has confirmed it to the person. */
      readonly isNew?: boolean;
    }
  | { readonly kind: "zone-asked" }
  | Refusal;

export interface Refusal {
  readonly kind: "refused";
  readonly why: string;
}

/** A change that a person asks for. */
export interface ScheduleChange {
  readonly when?: string | undefined;
  readonly text?: string | undefined;
  readonly timezone?: string | undefined;
}

const KEEP_OVER_MS = 90 * 24 * 3_600_000;

/**
 * Schedules that people make in the chats of one conversation. They are tasks beside the declared ones, whose
 * declaration is stored. `ScheduleRights` says who may, `ChatSchedulePresses` takes the presses of their cards.
 */
export class ChatSchedules {
  readonly rights: ScheduleRights;
  readonly #options: ChatSchedulesOptions;
  readonly #store: ChatScheduleStore;
  readonly #zones: PersonZones;

  constructor(options: ChatSchedulesOptions) {
    this.#options = options;
    const { host, log } = options;
    this.#store = createChatScheduleStore(host.database);
    this.#zones = new PersonZones({ host, log, store: this.#store });
    this.rights = new ScheduleRights({ host, log, active: () => this.#active() });
  }

  tasks(): CheckedTask[] {
    const most = this.rights.limits();
    return this.#store.all().flatMap((schedule) => taskOf(schedule, most) ?? []);
  }

  get(id: string): ChatSchedule | undefined {
    return this.#store.get(id);
  }

  list(): ShownSchedule[] {
    return this.#active().map((schedule) => this.shown(schedule));
  }

  /** A schedule as its cards show it, at this moment. */
  shown(schedule: ChatSchedule): ShownSchedule {
    const { tasks } = this.#options.schedules;
    return {
      schedule,
      isPaused: tasks.isPaused(schedule.id),
      next: tasks.upcoming(schedule.id, 3),
      now: this.#options.host.deps.clock.now(),
    };
  }

  listCard(reader: Pick<SchedulePerson, "language"> | undefined): CardContent {
    return listCard(this.list(), sayTo(this.#options.host.agent, reader));
  }

  /** Makes a schedule, or asks for the person's time zone first if the time depends on it. */
  async make(
    { kind, text, when }: ScheduleRequest,
    place: RequestPlace,
    timezone: string | undefined,
    cardId: string,
  ): Promise<ScheduleResult> {
    const { person } = place;
    const say = sayTo(this.#options.host.agent, person);
    const problem = await this.rights.problemOf(text, place, say);
    if (problem !== undefined) return { kind: "refused", why: problem };
    const zone = timezone ?? (await this.#knownZone(place));
    if (zone === undefined && needsZone(when)) {
      const question = zoneCard({ kind, text, when }, person.userId, say);
      this.#post(`${cardId}:zone`, place.address, question);
      return { kind: "zone-asked" };
    }
    const result = this.add({ kind, text, when }, place, zone, cardId);
    if (timezone !== undefined && result.kind === "done") await this.rememberZone(place, timezone);
    return result;
  }

  /** Makes a schedule without asking whether the person may, and confirms it with a card. */
  add(
    { kind, text, when }: ScheduleRequest,
    { address, person }: RequestPlace,
    knownZone: string | undefined,
    cardId: string,
  ): ScheduleResult {
    const { database, deps } = this.#options.host;
    const say = sayTo(this.#options.host.agent, person);
    const timezone = knownZone ?? "UTC";
    const now = deps.clock.now();
    const schedule = parseWhen(when, now, timezone);
    const preview = previewOf(schedule, timezone, now, this.rights.limits().leastIntervalMs, say);
    if (preview.problem !== undefined) return { kind: "refused", why: preview.problem };
    const made = database.transaction(() => {
      const id = this.#store.nextId();
      const isZoneUnknown = knownZone === undefined ? true : undefined;
      const times = { schedule, timezone, isZoneUnknown };
      const added = { id, kind, text, ...times, address, madeBy: person, createdAt: now };
      this.#store.save(added);
      this.#reconcile(now);
      return this.shown(added);
    });
    this.#post(cardId, address, confirmationCard(made, say));
    return { kind: "done", shown: made, isNew: true };
  }

  /** Remembers the time zone of the person who asks, for all conversations. */
  async rememberZone(place: RequestPlace, zone: string): Promise<void> {
    await this.#zones.remember(zonedPerson(place), zone);
  }

  /** Changes the time or the text of a schedule. Its next occurrence follows from the new time. */
  async change(id: string, change: ScheduleChange, place: RequestPlace): Promise<ScheduleResult> {
    const known = await this.#changeable(id, place);
    if (known.kind === "refused") return known;
    const say = sayTo(this.#options.host.agent, place.person);
    const zone = change.timezone ?? (await this.#zoneOf(known, place));
    if (zone === undefined && change.when !== undefined && needsZone(change.when))
      return { kind: "refused", why: say("zoneNeeded") };
    const now = this.#options.host.deps.clock.now();
    const timezone = zone ?? known.timezone;
    const schedule = change.when === undefined ? known.schedule : parseWhen(change.when, now, timezone);
    const { leastIntervalMs } = this.rights.limits();
    const preview = previewOf(schedule, timezone, now, leastIntervalMs, say);
    if (preview.problem !== undefined) return { kind: "refused", why: preview.problem };
    const isZoneUnknown = zone === undefined ? true : undefined;
    const changed = { ...known, schedule, timezone, isZoneUnknown, text: change.text ?? known.text };
    this.#options.host.database.transaction(() => {
      this.#store.save(changed);
      this.#reconcile(now);
    });
    if (change.timezone !== undefined) await this.rememberZone(place, change.timezone);
    return { kind: "done", shown: this.shown(changed) };
  }

  /** Pauses, continues, runs or deletes a schedule. */
  async manage(
    id: string,
    action: "pause" | "resume" | "run" | "delete",
    place: RequestPlace,
  ): Promise<ScheduleResult> {
    const known = await this.#changeable(id, place);
    if (known.kind === "refused") return known;
    if (action === "delete") {
      this.remove(id);
      return { kind: "done" };
    }
    const schedules = this.#options.schedules;
    const isDone =
      action === "run" ? schedules.runNow(id) !== undefined : schedules.tasks.pause(id, action === "pause");
    // The declaration of tasks is wrong for now. The log has the reason.
    if (!isDone)
      return { kind: "refused", why: sayTo(this.#options.host.agent, place.person)("schedulesFail") };
    return { kind: "done", shown: this.shown(known) };
  }

  /** Deletes a schedule, whoever asks. Returns `false` if no schedule has this id. */
  remove(id: string): boolean {
    return this.#options.host.database.transaction(() => {
      const isRemoved = this.#store.remove(id);
      if (isRemoved) this.#reconcile();
      return isRemoved;
    });
  }

  /** Skips the next occurrence of a schedule. Returns `false` if it has none. */
  skipNext(id: string): boolean {
    return this.#options.schedules.tasks.skipNext(id);
  }

  /** Makes a reminder again, for another time. The first one stays as it is. */
  putOff(known: ChatSchedule, schedule: string, now: number): void {
    this.#options.host.database.transaction(() => {
      this.#store.save({ ...known, id: this.#store.nextId(), schedule, createdAt: now });
      this.#reconcile(now);
    });
  }

  /** Forgets schedules that are over, once nobody will press a button of their last card. */
  sweep(): void {
    const before = this.#options.host.deps.clock.now() - KEEP_OVER_MS;
    const over = this.#store
      .all()
      .filter(({ createdAt, id }) => createdAt < before && this.#options.schedules.tasks.isOver(id));
    if (over.length === 0) return;
    this.#options.host.database.transaction(() => {
      for (const { id } of over) this.#store.remove(id);
      this.#reconcile();
    });
  }

  /** Returns a schedule that the person may change, or the reason why not. */
  async #changeable(id: string, place: RequestPlace): Promise<ChatSchedule | Refusal> {
    const say = sayTo(this.#options.host.agent, place.person);
    const known = this.#store.get(id);
    if (known === undefined) return { kind: "refused", why: say("scheduleUnknown") };
    return (await this.rights.mayChange(known, place))
      ? known
      : { kind: "refused", why: say("scheduleNotYours") };
  }

  /** Returns the zone of a schedule. It may have become known since the schedule was made. */
  async #zoneOf({ isZoneUnknown, timezone }: ChatSchedule, place: RequestPlace): Promise<string | undefined> {
    return isZoneUnknown === true ? this.#knownZone(place) : timezone;
  }

  async #knownZone(place: RequestPlace): Promise<string | undefined> {
    return (await this.#zones.of(zonedPerson(place))) ?? this.#options.host.agent.getDefaultTimezone();
  }

  #post(id: string, address: Address, card: CardContent): void {
    this.#options.host.thread.postCard(id, address, card, SCHEDULES.name);
  }

  /** The schedules that have occurrences to come. */
  #active(): ChatSchedule[] {
    return this.#store.all().filter(({ id }) => this.#options.schedules.tasks.upcoming(id, 1).length > 0);
  }

  /** A time that was still to come at `now`, when it was checked, has an occurrence even if it has passed since. */
  #reconcile(now?: number): void {
    this.#options.schedules.tasks.reconcile(now);
  }
}

function zonedPerson({ address, person }: RequestPlace): ZonedPerson {
  return { messengerId: address.messengerId, userId: person.userId };
}
