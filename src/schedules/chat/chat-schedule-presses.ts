import { alert } from "../../core/card-press.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Say } from "../../core/bot-texts.ts";
import type { CardContent } from "../../core/content.ts";
import type { Clock } from "../../core/deps.ts";
import { isTimeZone } from "../../core/time-zone.ts";
import { answeredCard, pressSchema } from "./chat-cards.ts";
import { parseWhen } from "../rules/parse-when.ts";
import type { SchedulePress } from "./chat-cards.ts";
import type { ChatSchedule, SchedulePerson } from "../rules/chat-schedule.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import type { ChatSchedules } from "./chat-schedules.ts";
import type { RequestPlace } from "./schedule-rights.ts";

export interface ChatSchedulePressesOptions {
  readonly clock: Clock;
  readonly schedules: ChatSchedules;
  readonly say: (person: Pick<SchedulePerson, "language"> | undefined) => Say;
  readonly revise: (id: string, content: CardContent) => void;
  /** Whether a card has no buttons any more. */
  readonly isAnswered: (id: string) => boolean;
}

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
  readonly #options: ChatSchedulePressesOptions;

  constructor(options: ChatSchedulePressesOptions) {
    this.#options = options;
  }

  /** Takes a press of a card about schedules. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const parsed = pressSchema.safeParse(press.payload);
    return parsed.success ? this.#press(press, parsed.data) : undefined;
  }

  async #press({ cardId, event, person }: CardPress, press: SchedulePress): Promise<PressAnswer> {
    if (person === undefined) return alert(this.#options.say(person)("pressAnonymous"));
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
    const { revise, say, schedules } = this.#options;
    const result = await schedules.manage(press.id, press.do, place);
    if (result.kind === "refused") return alert(result.why);
    revise(cardId, schedules.listCard(place.person));
    // Its time may have passed while it was paused.
    const isOver = press.do === "resume" && result.kind === "done" && result.shown?.next.length === 0;
    return say(place.person)(isOver ? "scheduleOver" : MANAGED[press.do]);
  }

  /** Makes the schedule that has waited for the person's time zone. */
  async #chooseZone(
    cardId: string,
    { by, request, zone }: PressOf<"zone">,
    place: RequestPlace,
  ): Promise<PressAnswer> {
    const { isAnswered, revise, schedules } = this.#options;
    const say = this.#options.say(place.person);
    if (by !== place.person.userId) return alert(say("questionNotYours"));
    const refused = await schedules.rights.problemOf(request.text, place, say);
    if (refused !== undefined) return alert(refused);
    if (!isTimeZone(zone)) return alert(say("scheduleUnknown"));
    await schedules.rememberZone(place, zone);
    // Another press may have been answered meanwhile.
    if (isAnswered(cardId)) return undefined;
    const result = schedules.add(request, place, zone, `${cardId}:made`);
    revise(cardId, { kind: "card", text: say("zoneSet", { zone }) });
    return result.kind === "refused" ? alert(result.why) : say("zoneKept");
  }

  async #answerReminder(
    cardId: string,
    { do: action, id }: PressOf<"reminder">,
    place: RequestPlace,
  ): Promise<PressAnswer> {
    const { isAnswered, revise, schedules } = this.#options;
    const say = this.#options.say(place.person);
    const known = schedules.get(id);
    if (known === undefined) return alert(say("reminderUnknown"));
    if (!(await schedules.rights.mayChange(known, place))) return alert(say("reminderNotYours"));
    // Another press may have been answered meanwhile.
    if (isAnswered(cardId)) return undefined;
    const answer = this.#answerTo(known, action, say);
    revise(cardId, answeredCard(known.text, answer));
    return answer;
  }

  #answerTo(known: ChatSchedule, action: PressOf<"reminder">["do"], say: Say): string {
    const { clock, schedules } = this.#options;
    switch (action) {
      case "done":
        return say("reminderDone");
      case "skip":
        return say(schedules.skipNext(known.id) ? "reminderSkipped" : "reminderHasNoNext");
      case "10m":
      case "1h":
      case "tomorrow": {
        const now = clock.now();
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
