import { sayTo, type Say } from "../../core/text/bot-texts.ts";
import { alert, type CardPress, type PressAnswer } from "../../core/chat/card-press.ts";
import { isTimeZone } from "../../core/time/time-zone.ts";
import { answeredCard, pressSchema, type SchedulePress } from "./chat-cards.ts";
import { parseWhen } from "../rules/parse-when.ts";
import type { ChatSchedule } from "../rules/chat-schedule.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import type { ChatSchedules } from "./chat-schedules.ts";
import type { RequestPlace } from "./schedule-rights.ts";

type PressOf<Kind extends SchedulePress["schedules"]> = Extract<SchedulePress, { schedules: Kind }>;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Presses of the cards of schedules that people have made: reminders, the list, and the question for a time zone.
 *
 * 1. A reminder or a question is answered once. Every wait (for rights, for the root) comes before the look at the
 *    card, and nothing waits between that look and the change.
 */
export class ChatSchedulePresses {
  readonly #host: Pick<SchedulesObject, "agent" | "deps" | "thread">;
  readonly #schedules: ChatSchedules;

  constructor(host: Pick<SchedulesObject, "agent" | "deps" | "thread">, schedules: ChatSchedules) {
    this.#host = host;
    this.#schedules = schedules;
  }

  /** Takes a press of a card about schedules. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const parsed = pressSchema.safeParse(press.payload);
    return parsed.success ? this.#press(press, parsed.data) : undefined;
  }

  async #press({ cardId, event, person }: CardPress, press: SchedulePress): Promise<PressAnswer> {
    if (person === undefined) return alert(sayTo(this.#host.agent, person)("pressAnonymous"));
    const { fullName, language, userId } = person;
    const place = { person: { userId, fullName, language }, address: addressOf(event) };
    switch (press.schedules) {
      case "reminder":
        return this.#answerReminder(cardId, press, place);
      case "manage":
        return this.#manage(cardId, press, place);
      case "zone":
        return this.#chooseZone(cardId, press, place);
    }
  }

  async #manage(cardId: string, press: PressOf<"manage">, place: RequestPlace): Promise<PressAnswer> {
    const schedules = this.#schedules;
    const result = await schedules.manage(press.id, press.do, place);
    if (result.kind === "refused") return alert(result.why);
    this.#host.thread.cards.revise(cardId, schedules.listCard(place.person));
    // Its time may have passed while it was paused.
    const isOver = press.do === "resume" && result.kind === "done" && result.shown?.next.length === 0;
    return sayTo(this.#host.agent, place.person)(isOver ? "scheduleOver" : MANAGED[press.do]);
  }

  /** Makes the schedule that has waited for the person's time zone. */
  async #chooseZone(
    cardId: string,
    { by, request, zone }: PressOf<"zone">,
    place: RequestPlace,
  ): Promise<PressAnswer> {
    const schedules = this.#schedules;
    const say = sayTo(this.#host.agent, place.person);
    if (by !== place.person.userId) return alert(say("questionNotYours"));
    const refused = await schedules.rights.problemOf(request.text, place, say);
    if (refused !== undefined) return alert(refused);
    if (!isTimeZone(zone)) return alert(say("scheduleUnknown"));
    await schedules.rememberZone(place, zone);
    // Another press may have been answered meanwhile.
    if (this.#isAnswered(cardId)) return undefined;
    const result = schedules.add(request, place, zone, `${cardId}:made`);
    this.#host.thread.cards.revise(cardId, { kind: "card", text: say("zoneSet", { zone }) });
    return result.kind === "refused" ? alert(result.why) : say("zoneKept");
  }

  async #answerReminder(
    cardId: string,
    { do: action, id }: PressOf<"reminder">,
    place: RequestPlace,
  ): Promise<PressAnswer> {
    const schedules = this.#schedules;
    const say = sayTo(this.#host.agent, place.person);
    const known = schedules.get(id);
    if (known === undefined) return alert(say("reminderUnknown"));
    if (!(await schedules.rights.mayChange(known, place))) return alert(say("reminderNotYours"));
    // Another press may have been answered meanwhile.
    if (this.#isAnswered(cardId)) return undefined;
    const answer = this.#answerTo(known, action, say);
    this.#host.thread.cards.revise(cardId, answeredCard(known.text, answer));
    return answer;
  }

  /** Whether a card has no buttons any more. */
  #isAnswered(cardId: string): boolean {
    return this.#host.thread.cards.store.read(cardId)?.buttons.length === 0;
  }

  #answerTo(known: ChatSchedule, action: PressOf<"reminder">["do"], say: Say): string {
    const schedules = this.#schedules;
    switch (action) {
      case "done":
        return say("reminderDone");
      case "skip":
        return say(schedules.skipNext(known.id) ? "reminderSkipped" : "reminderHasNoNext");
      case "10m":
      case "1h":
      case "tomorrow": {
        const now = this.#host.deps.clock.now();
        schedules.putOff(known, laterThan(now, action, known), now);
        return say(LATER[action]);
      }
    }
  }
}

const LATER = { "10m": "remindsInTenMinutes", "1h": "remindsInAnHour", tomorrow: "remindsTomorrow" } as const;
const MANAGED = {
  pause: "schedulePaused",
  resume: "scheduleResumed",
  run: "scheduleRuns",
  delete: "scheduleDeleted",
} as const;

/** Returns the schedule of a reminder that is put off. `tomorrow` keeps its time of day, on its own clock. */
function laterThan(now: number, by: keyof typeof LATER, { timezone }: ChatSchedule): string {
  if (by !== "tomorrow") return atTime(now + (by === "10m" ? 10 : 60) * MINUTE_MS);
  const time = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, hour: "2-digit", minute: "2-digit" });
  const schedule = parseWhen(`tomorrow at ${time.format(now)}`, now, timezone);
  return schedule.startsWith("at ") ? schedule : atTime(now + DAY_MS);
}

function atTime(epochMs: number): string {
  return `at ${new Date(epochMs).toISOString()}`;
}
