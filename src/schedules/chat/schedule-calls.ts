import type { CallGroup } from "../../core/inner-calls.ts";
import type { RunKeepers } from "../../scheduled-runs/nudge-keeper.ts";
import type { ZoneCalls } from "./person-zones.ts";

/** The calls about schedules between objects: to the keeper of one, and to the root about people's time zones. */
export interface ScheduleCalls extends RunKeepers, ZoneCalls {}

export const SCHEDULES: CallGroup<ScheduleCalls> = { name: "schedules" };
