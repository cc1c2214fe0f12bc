import { failureCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import { SCHEDULES } from "./schedule-calls.ts";
import type { ChatScheduleStore } from "../stored/chat-schedule-store.ts";
import type { ZonedPerson } from "../stored/person-zone-store.ts";

export interface PersonZonesOptions {
  readonly host: Pick<SchedulesObject, "deps" | "objects">;
  readonly log: Log;
  /** Zones that this conversation has heard itself, for times when the root cannot be reached. */
  readonly store: Pick<ChatScheduleStore, "zoneOf" | "setZone">;
}

/** The time zones of people: each is asked once, in any conversation with the bot. */
export class PersonZones {
  readonly #options: PersonZonesOptions;

  constructor(options: PersonZonesOptions) {
    this.#options = options;
  }

  async of(person: ZonedPerson): Promise<string | undefined> {
    const { host, log, store } = this.#options;
    const zones = host.objects.root(SCHEDULES);
    const own = store.zoneOf(person.userId);
    try {
      const known = await zones.zoneOfPerson(person);
      // The root may have been away when the person said it.
      if (known === undefined && own !== undefined) await zones.rememberZone(person, own);
      return known ?? own;
    } catch (error) {
      log.warn("schedule.zone-not-read", { code: failureCode(error) });
      return own;
    }
  }

  async remember(person: ZonedPerson, zone: string): Promise<void> {
    const { host, log, store } = this.#options;
    store.setZone(person.userId, zone, host.deps.clock.now());
    try {
      await host.objects.root(SCHEDULES).rememberZone(person, zone);
    } catch (error) {
      log.warn("schedule.zone-not-kept", { code: failureCode(error) });
    }
  }
}
