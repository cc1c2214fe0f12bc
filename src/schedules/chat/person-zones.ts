import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ChatScheduleStore } from "../stored/chat-schedule-store.ts";
import type { ZonedPerson } from "../stored/person-zone-store.ts";

/** The calls of a conversation to its root about people's time zones. */
export interface ZoneCalls {
  /** Returns the zone of a person, whatever conversation has asked for it. */
  zoneOfPerson(person: ZonedPerson): Promise<string | undefined>;
  rememberZone(person: ZonedPerson, zone: string): Promise<void>;
}

export interface PersonZonesOptions {
  readonly log: Log;
  readonly zones: () => ZoneCalls;
  /** Zones that this conversation has heard itself, for times when the root cannot be reached. */
  readonly store: Pick<ChatScheduleStore, "zoneOf" | "setZone">;
  readonly now: () => number;
}

/** The time zones of people: each is asked once, in any conversation with the bot. */
export class PersonZones {
  readonly #options: PersonZonesOptions;

  constructor(options: PersonZonesOptions) {
    this.#options = options;
  }

  async of(person: ZonedPerson): Promise<string | undefined> {
    const { log, store, zones } = this.#options;
    const own = store.zoneOf(person.userId);
    try {
      const known = await zones().zoneOfPerson(person);
      // The root may have been away when the person said it.
      if (known === undefined && own !== undefined) await zones().rememberZone(person, own);
      return known ?? own;
    } catch (error) {
      log.warn("schedule.zone-not-read", { code: failureCode(error) });
      return own;
    }
  }

  async remember(person: ZonedPerson, zone: string): Promise<void> {
    const { log, now, store, zones } = this.#options;
    store.setZone(person.userId, zone, now());
    try {
      await zones().rememberZone(person, zone);
    } catch (error) {
      log.warn("schedule.zone-not-kept", { code: failureCode(error) });
    }
  }
}
