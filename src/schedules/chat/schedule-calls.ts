import type { CallGroup } from "../../core/chat/inner-calls.ts";
import type { RunKeepers } from "../../scheduled-runs/nudge-keeper.ts";
import type { ZonedPerson } from "../stored/person-zone-store.ts";

/** The calls of a conversation to its root about people's time zones. */
export interface ZoneCalls {
  /** Returns the zone of a person, whatever conversation has asked for it. */
  zoneOfPerson(person: ZonedPerson): Promise<string | undefined>;
  rememberZone(person: ZonedPerson, zone: string): Promise<void>;
}

/** The calls about schedules between objects: to the keeper of one, and to the root about people's time zones. */
export interface ScheduleCalls extends RunKeepers, ZoneCalls {}

export const SCHEDULES: CallGroup<ScheduleCalls> = { name: "schedules" };
