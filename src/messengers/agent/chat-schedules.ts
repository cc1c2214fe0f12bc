import { BOT_CODE_LIMIT_MS, logBotFailure } from "../../core/bot-code.ts";
import type { CardContent } from "../../core/content.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import { sayIn } from "../../core/bot-texts.ts";
import type { BotTexts, Say } from "../../core/bot-texts.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { Address } from "../../core/surface.ts";
import { withinTime } from "../../core/within-time.ts";
import {
  answeredCard,
  CHAT_SCHEDULE_DEFAULTS,
  confirmationCard,
  createChatScheduleStore,
  isTimeZone,
  listCard,
  newsCard,
  needsZone,
  parseWhen,
  pressSchema,
  previewOf,
  skippedCard,
  taskOf,
  zoneCard,
} from "../../schedules/index.ts";
import type {
  ChatSchedule,
  ChatScheduleOptions,
  ChatScheduleStore,
  CheckedTask,
  OccurrenceRecord,
  OwnerNews,
  SchedulePerson,
  SchedulePress,
  ScheduleRequest,
  Schedules,
  ShownSchedule,
  ZonedPerson,
} from "../../schedules/index.ts";
import { PersonZones } from "./person-zones.ts";
import type { ZoneCalls } from "./person-zones.ts";

export interface ChatSchedulesOptions {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock" | "newId">;
  readonly log: Log;
  /** The bot's setting. `false`: nobody can make schedules; those that exist still run. */
  readonly settings: () => boolean | ChatScheduleOptions;
  readonly defaultZone: () => string | undefined;
  readonly schedules: () => Schedules;
  readonly root: () => ZoneCalls;
  /** The bot's own words for texts that people read. */
  readonly texts: () => BotTexts;
  readonly post: (id: string, address: Address, content: CardContent) => void;
  readonly revise: (id: string, content: CardContent) => void;
  /** Whether a card has no buttons any more. */
  readonly isAnswered: (id: string) => boolean;
}

/** Where a request comes from. */
export interface RequestPlace {
  readonly person: SchedulePerson;
  readonly address: Address;
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
  | { readonly kind: "refused"; readonly why: string };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MOST_TEXT = 2000;
const KEEP_OVER_MS = 90 * DAY_MS;

/**
 * Schedules that people make in the chats of one conversation. They are tasks beside the declared ones, whose
 * declaration is stored.
 */
export class ChatSchedules {
  readonly #options: ChatSchedulesOptions;
  readonly #store: ChatScheduleStore;
  readonly #zones: PersonZones;

  constructor(options: ChatSchedulesOptions) {
    this.#options = options;
    this.#store = createChatScheduleStore(options.database);
    this.#zones = new PersonZones({ ...options, store: this.#store, now: () => options.deps.clock.now() });
  }

  /** The tasks of all schedules. */
  tasks(): CheckedTask[] {
    const most = this.#limits();
    return this.#store.all().flatMap((schedule) => taskOf(schedule, most) ?? []);
  }

  get(id: string): ChatSchedule | undefined {
    return this.#store.get(id);
  }

  list(): ShownSchedule[] {
    return this.#active().map((schedule) => this.#shown(schedule));
  }

  listCard(reader: Pick<SchedulePerson, "language"> | undefined): CardContent {
    return listCard(this.list(), this.#say(reader));
  }

  /** Tells how a schedule fares. Undefined if nobody has made it in this conversation. */
  newsCard(id: string, news: Exclude<OwnerNews, "too-late">, dueAt: number): CardContent | undefined {
    const schedule = this.#store.get(id);
    return schedule && newsCard(this.#shown(schedule), news, dueAt, this.#say(schedule.madeBy));
  }

  /** Tells the chat of a schedule which of its schedules were skipped. Undefined if nobody has made it. */
  skippedCard(
    id: string,
    skipped: readonly Pick<OccurrenceRecord, "taskId" | "scheduledFor">[],
  ): CardContent | undefined {
    const asked = this.#store.get(id);
    if (asked === undefined) return undefined;
    const { address, madeBy } = asked;
    const shown = skipped.flatMap(({ scheduledFor, taskId }) => {
      const schedule = this.#store.get(taskId);
      if (schedule === undefined || !isSamePlace(schedule.address, address)) return [];
      return [{ ...this.#shown(schedule), dueAt: scheduledFor }];
    });
    return skippedCard(shown, this.#say(madeBy));
  }

  /** Makes a schedule, or asks for the person's time zone first if the time depends on it. */
  async make(
    { kind, text, when }: ScheduleRequest,
    place: RequestPlace,
    timezone: string | undefined,
    cardId: string,
  ): Promise<ScheduleResult> {
    const { person } = place;
    const problem = await this.#mayMake(text, place);
    if (problem !== undefined) return { kind: "refused", why: problem };
    const known = timezone === undefined ? await this.#zones.of(zonedPerson(place)) : undefined;
    const zone = timezone ?? known ?? this.#options.defaultZone();
    if (zone === undefined && needsZone(when)) {
      this.#options.post(
        `${cardId}:zone`,
        place.address,
        zoneCard({ kind, text, when }, person.userId, this.#say(person)),
      );
      return { kind: "zone-asked" };
    }
    const result = this.#add({ kind, text, when }, place, zone, cardId);
    if (timezone !== undefined && result.kind === "done")
      await this.#zones.remember(zonedPerson(place), timezone);
    return result;
  }

  #add(
    { kind, text, when }: ScheduleRequest,
    { address, person }: RequestPlace,
    knownZone: string | undefined,
    cardId: string,
  ): ScheduleResult {
    const { database, deps, post } = this.#options;
    const timezone = knownZone ?? "UTC";
    const now = deps.clock.now();
    const schedule = parseWhen(when, now, timezone);
    const preview = previewOf(schedule, timezone, now, this.#limits().leastIntervalMs, this.#say(person));
    if (preview.problem !== undefined) return { kind: "refused", why: preview.problem };
    const made = database.transaction(() => {
      const id = this.#store.nextId();
      const isZoneUnknown = knownZone === undefined ? true : undefined;
      const added = {
        id,
        kind,
        text,
        schedule,
        timezone,
        isZoneUnknown,
        address,
        madeBy: person,
        createdAt: now,
      };
      this.#store.save(added);
      this.#reconcile(now);
      return this.#shown(added);
    });
    post(cardId, address, confirmationCard(made, this.#say(person)));
    return { kind: "done", shown: made, isNew: true };
  }

  /** Changes the time or the text of a schedule. Its next occurrence follows from the new time. */
  async change(
    id: string,
    change: {
      readonly when?: string | undefined;
      readonly text?: string | undefined;
      readonly timezone?: string | undefined;
    },
    place: RequestPlace,
  ): Promise<ScheduleResult> {
    const known = this.#store.get(id);
    if (known === undefined) return { kind: "refused", why: this.#say(place.person)("scheduleUnknown") };
    if (!(await this.#mayChange(known, place)))
      return { kind: "refused", why: this.#say(place.person)("scheduleNotYours") };
    const say = this.#say(place.person);
    const zone = change.timezone ?? (await this.#zoneOf(known, place));
    if (zone === undefined && change.when !== undefined && needsZone(change.when))
      return { kind: "refused", why: say("zoneNeeded") };
    const now = this.#options.deps.clock.now();
    const timezone = zone ?? known.timezone;
    const schedule = change.when === undefined ? known.schedule : parseWhen(change.when, now, timezone);
    const { leastIntervalMs } = this.#limits();
    const preview = previewOf(schedule, timezone, now, leastIntervalMs, say);
    if (preview.problem !== undefined) return { kind: "refused", why: preview.problem };
    const isZoneUnknown = zone === undefined ? true : undefined;
    const changed = { ...known, schedule, timezone, isZoneUnknown, text: change.text ?? known.text };
    this.#options.database.transaction(() => {
      this.#store.save(changed);
      this.#reconcile(now);
    });
    if (change.timezone !== undefined) await this.#zones.remember(zonedPerson(place), change.timezone);
    return { kind: "done", shown: this.#shown(changed) };
  }

  /** Returns the zone of a schedule. It may have become known since the schedule was made. */
  async #zoneOf({ isZoneUnknown, timezone }: ChatSchedule, place: RequestPlace): Promise<string | undefined> {
    if (isZoneUnknown !== true) return timezone;
    return (await this.#zones.of(zonedPerson(place))) ?? this.#options.defaultZone();
  }

  /** Pauses, continues, runs or deletes a schedule. */
  async manage(
    id: string,
    action: "pause" | "resume" | "run" | "delete",
    place: RequestPlace,
  ): Promise<ScheduleResult> {
    const known = this.#store.get(id);
    if (known === undefined) return { kind: "refused", why: this.#say(place.person)("scheduleUnknown") };
    if (!(await this.#mayChange(known, place)))
      return { kind: "refused", why: this.#say(place.person)("scheduleNotYours") };
    const schedules = this.#options.schedules();
    if (action === "delete") {
      this.remove(id);
      return { kind: "done" };
    }
    const isDone =
      action === "run" ? schedules.runNow(id) !== undefined : schedules.tasks.pause(id, action === "pause");
    // The declaration of tasks is wrong for now. The log has the reason.
    if (!isDone) return { kind: "refused", why: this.#say(place.person)("schedulesFail") };
    return { kind: "done", shown: this.#shown(known) };
  }

  /** Deletes a schedule without asking who may. Returns `false` if there is none. */
  remove(id: string): boolean {
    return this.#options.database.transaction(() => {
      const isRemoved = this.#store.remove(id);
      if (isRemoved) this.#reconcile();
      return isRemoved;
    });
  }

  /** Takes a press of a card about schedules. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const parsed = pressSchema.safeParse(press.payload);
    return parsed.success ? this.#press(press, parsed.data) : undefined;
  }

  #say(person: Pick<SchedulePerson, "language"> | undefined): Say {
    return sayIn(this.#options.texts(), person?.language);
  }

  async #press({ cardId, event, person }: CardPress, press: SchedulePress): Promise<PressAnswer> {
    const say = this.#say(person);
    if (person === undefined) return alert(say("pressAnonymous"));
    const { id: threadId, chatId, isDirectMessage, topicId } = event.thread;
    const address = {
      messengerId: event.messengerId,
      threadId,
      chatId,
      ...(topicId !== undefined && { topicId }),
      isDirectMessage,
    };
    const { fullName, language, userId } = person;
    const place = { person: { userId, fullName, language }, address };
    switch (press.schedules) {
      case "reminder":
        return this.#answerReminder(cardId, press, place);
      case "manage": {
        const result = await this.manage(press.id, press.do, place);
        if (result.kind === "refused") return alert(result.why);
        this.#options.revise(cardId, this.listCard(person));
        // Its time may have passed while it was paused.
        const isOver = press.do === "resume" && result.kind === "done" && result.shown?.next.length === 0;
        return say(isOver ? "scheduleOver" : MANAGED[press.do]);
      }
      case "zone": {
        if (press.by !== person.userId) return alert(say("questionNotYours"));
        const refused = await this.#mayMake(press.request.text, place);
        if (refused !== undefined) return alert(refused);
        if (!isTimeZone(press.zone)) return alert(say("scheduleUnknown"));
        await this.#zones.remember(zonedPerson(place), press.zone);
        // Another press may have been answered meanwhile.
        if (this.#options.isAnswered(cardId)) return undefined;
        const result = this.#add(press.request, place, press.zone, `${cardId}:made`);
        this.#options.revise(cardId, { kind: "card", text: say("zoneSet", { zone: press.zone }) });
        return result.kind === "refused" ? alert(result.why) : say("zoneKept");
      }
    }
  }

  /** Each reminder is answered once: its buttons are gone then, in the same transaction. */
  async #answerReminder(
    cardId: string,
    press: Extract<SchedulePress, { schedules: "reminder" }>,
    place: RequestPlace,
  ): Promise<PressAnswer> {
    const say = this.#say(place.person);
    const { database, deps, revise, schedules } = this.#options;
    const known = this.#store.get(press.id);
    if (known === undefined) return alert(say("reminderUnknown"));
    if (!(await this.#mayChange(known, place))) return alert(say("reminderNotYours"));
    // Another press may have been answered meanwhile.
    if (this.#options.isAnswered(cardId)) return undefined;
    const now = deps.clock.now();
    const answer = database.transaction((): string => {
      if (press.do === "done") return say("reminderDone");
      if (press.do === "skip")
        return schedules().tasks.skipNext(known.id) ? say("reminderSkipped") : say("reminderHasNoNext");
      const when =
        press.do === "tomorrow"
          ? tomorrowAs(known, now)
          : `at ${new Date(now + LATER_MS[press.do]).toISOString()}`;
      const id = this.#store.nextId();
      this.#store.save({ ...known, id, schedule: when, createdAt: now });
      this.#reconcile(now);
      return say(LATER[press.do]);
    });
    revise(cardId, answeredCard(known.text, answer));
    return answer;
  }

  /** Forgets schedules that are over, once nobody will press a button of their last card. */
  sweep(): void {
    const before = this.#options.deps.clock.now() - KEEP_OVER_MS;
    const over = this.#store
      .all()
      .filter(({ createdAt, id }) => createdAt < before && this.#options.schedules().tasks.isOver(id));
    if (over.length === 0) return;
    this.#options.database.transaction(() => {
      for (const { id } of over) this.#store.remove(id);
      this.#reconcile();
    });
  }

  /** The schedules that have occurrences to come. */
  #active(): ChatSchedule[] {
    return this.#store.all().filter(({ id }) => this.#options.schedules().tasks.upcoming(id, 1).length > 0);
  }

  /** A time that was still to come at `now`, when it was checked, has an occurrence even if it has passed since. */
  #reconcile(now?: number): void {
    this.#options.schedules().tasks.reconcile(now);
  }

  #shown(schedule: ChatSchedule): ShownSchedule {
    const schedules = this.#options.schedules();
    return {
      schedule,
      isPaused: schedules.tasks.isPaused(schedule.id),
      next: schedules.tasks.upcoming(schedule.id, 3),
      now: this.#options.deps.clock.now(),
    };
  }

  async #mayMake(text: string, place: RequestPlace): Promise<string | undefined> {
    const say = this.#say(place.person);
    const { settings } = this.#options;
    const limits = this.#limits();
    if (settings() === false) return say("schedulesOff");
    if (text.trim() === "" || text.length > MOST_TEXT) return say("scheduleTextLength", { most: MOST_TEXT });
    if (!place.address.isDirectMessage && !(await this.#isManager(place, true)))
      return say("schedulesNotAllowed");
    const all = this.#active();
    if (all.length >= limits.mostPerChat) return say("schedulesFull", { count: all.length });
    const own = all.filter(({ madeBy }) => madeBy.userId === place.person.userId);
    if (own.length >= limits.mostPerPerson) return say("yourSchedulesFull", { count: own.length });
    return undefined;
  }

  async #mayChange({ address, madeBy }: ChatSchedule, place: RequestPlace): Promise<boolean> {
    const { messengerId, threadId } = place.address;
    const isSameMessenger = messengerId === address.messengerId;
    if (isSameMessenger && madeBy.userId === place.person.userId) return true;
    // Several chats may share a conversation. A private one is for its own people.
    if (address.isDirectMessage) return isSameMessenger && threadId === address.threadId;
    return this.#isManager(place, false);
  }

  async #isManager({ address, person }: RequestPlace, otherwise: boolean): Promise<boolean> {
    const { deps, log } = this.#options;
    const { mayManage } = this.#limits();
    if (mayManage === undefined) return otherwise;
    try {
      const asked = Promise.resolve(mayManage(person, address.chatId));
      return await withinTime(deps.clock, BOT_CODE_LIMIT_MS, asked, "mayManage()");
    } catch (error) {
      logBotFailure(log, "mayManage", error);
      return false;
    }
  }

  #limits(): typeof CHAT_SCHEDULE_DEFAULTS & ChatScheduleOptions {
    const settings = this.#options.settings();
    return {
      ...CHAT_SCHEDULE_DEFAULTS,
      ...(typeof settings === "object" && settings),
    } as typeof CHAT_SCHEDULE_DEFAULTS & ChatScheduleOptions;
  }
}

const LATER_MS = { "10m": 10 * MINUTE_MS, "1h": 60 * MINUTE_MS } as const;
const LATER = { "10m": "remindsInTenMinutes", "1h": "remindsInAnHour", tomorrow: "remindsTomorrow" } as const;
const MANAGED = {
  pause: "schedulePaused",
  resume: "scheduleResumed",
  run: "scheduleRuns",
  delete: "scheduleDeleted",
} as const;

function isSamePlace(one: Address, other: Address): boolean {
  return one.messengerId === other.messengerId && one.threadId === other.threadId;
}

function zonedPerson({ address, person }: RequestPlace): ZonedPerson {
  return { messengerId: address.messengerId, userId: person.userId };
}

/** Returns the same time of day on the next day, on the clock of the reminder. */
function tomorrowAs({ timezone }: ChatSchedule, now: number): string {
  const time = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, hour: "2-digit", minute: "2-digit" });
  const schedule = parseWhen(`tomorrow at ${time.format(now)}`, now, timezone);
  return schedule.startsWith("at ") ? schedule : `at ${new Date(now + DAY_MS).toISOString()}`;
}

function alert(text: string): PressAnswer {
  return { text, alert: true };
}
