import { BOT_CODE_LIMIT_MS, logBotFailure } from "../../core/time/bot-code.ts";
import type { Say } from "../../core/text/bot-texts.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import type { Log } from "../../core/base/log.ts";
import { isSameThread } from "../../feature/same-thread.ts";
import type { Address } from "../../core/chat/surface.ts";
import { withinTime } from "../../core/time/within-time.ts";
import { CHAT_SCHEDULE_DEFAULTS } from "../rules/chat-schedule.ts";
import type { ChatSchedule, ChatScheduleOptions, SchedulePerson } from "../rules/chat-schedule.ts";

/** Where a request comes from. */
export interface RequestPlace {
  readonly person: SchedulePerson;
  readonly address: Address;
}

export interface ScheduleRightsOptions {
  readonly host: Pick<SchedulesObject, "agent" | "deps">;
  readonly log: Log;
  /** The schedules of the conversation that have occurrences to come. They count. */
  readonly active: () => readonly ChatSchedule[];
}

type Limits = typeof CHAT_SCHEDULE_DEFAULTS & ChatScheduleOptions;

const MOST_TEXT = 2000;

/** Rights and limits of the people who make and change the schedules of one conversation. */
export class ScheduleRights {
  readonly #options: ScheduleRightsOptions;

  constructor(options: ScheduleRightsOptions) {
    this.#options = options;
  }

  /** The bot's limits, with the defaults. */
  limits(): Limits {
    const settings = this.#options.host.agent.chatSchedules;
    return { ...CHAT_SCHEDULE_DEFAULTS, ...(typeof settings === "object" && settings) } as Limits;
  }

  /** Returns why a person may not make a schedule with this text now. Undefined if the person may. */
  async problemOf(text: string, place: RequestPlace, say: Say): Promise<string | undefined> {
    const { active, host } = this.#options;
    const limits = this.limits();
    if (host.agent.chatSchedules === false) return say("schedulesOff");
    if (text.trim() === "" || text.length > MOST_TEXT) return say("scheduleTextLength", { most: MOST_TEXT });
    if (!place.address.isDirectMessage && !(await this.#isManager(place, true)))
      return say("schedulesNotAllowed");
    const all = active();
    if (all.length >= limits.mostPerChat) return say("schedulesFull", { count: all.length });
    const own = all.filter(({ madeBy }) => madeBy.userId === place.person.userId);
    if (own.length >= limits.mostPerPerson) return say("yourSchedulesFull", { count: own.length });
    return undefined;
  }

  /** Whether a person may change, pause, run, answer or delete a schedule. */
  async mayChange({ address, madeBy }: ChatSchedule, place: RequestPlace): Promise<boolean> {
    const isOwn = madeBy.userId === place.person.userId;
    if (isOwn && place.address.messengerId === address.messengerId) return true;
    // Several chats may share a conversation. A private one is for its own people.
    if (address.isDirectMessage) return isSameThread(place.address, address);
    return this.#isManager(place, false);
  }

  /** Asks the bot, whose answer is no if it fails. Without the bot's own rule the answer is `otherwise`. */
  async #isManager({ address, person }: RequestPlace, otherwise: boolean): Promise<boolean> {
    const { host, log } = this.#options;
    const { mayManage } = this.limits();
    if (mayManage === undefined) return otherwise;
    try {
      const asked = Promise.resolve(mayManage(person, address.chatId));
      return await withinTime(host.deps.clock, BOT_CODE_LIMIT_MS, asked, "mayManage()");
    } catch (error) {
      logBotFailure(log, "mayManage", error);
      return false;
    }
  }
}
