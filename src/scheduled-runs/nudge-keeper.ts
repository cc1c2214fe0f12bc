import { failureCode } from "../core/base/errors.ts";
import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { Log } from "../core/base/log.ts";
import type { ScheduledRun } from "../core/turn/scheduled-run.ts";
import type { BotObjects } from "../messengers/root/bot-objects.ts";
import type { LegReport } from "./leg.ts";

/** A turn of an occurrence, and its state. */
export interface TurnNews {
  readonly id: string;
  readonly report: LegReport;
}

/** The calls to those who wait for a run: something about it has changed. */
export interface RunKeepers {
  /** @param news so that the keeper need not ask. Versions before 0.2.0 ask all the same */
  nudgeOccurrence(key: string, news?: TurnNews): Promise<void>;
}
export interface RunDeliverers {
  nudgeBroadcast(id: string, target: string): Promise<void>;
}

const KEEPERS: CallGroup<RunKeepers> = { name: "schedules" };
/** The keepers of runs that calls of agents have begun. */
export const DELEGATORS: CallGroup<RunKeepers> = { name: "agent-tools" };
const DELIVERERS: CallGroup<RunDeliverers> = { name: "broadcasts" };

/**
 * Tells those who wait for a run that it goes on: the keeper of its schedule, or the root that delivers to many chats. If
 * that fails, they look by themselves within minutes.
 */
export async function nudgeKeeper(
  objects: Pick<BotObjects, "to" | "root">,
  { broadcast, occurrenceKey, schedule }: ScheduledRun,
  log: Log,
  news?: TurnNews,
): Promise<void> {
  try {
    // The root tells the keeper when all of its chats have an outcome.
    if (broadcast === undefined)
      await objects
        .to(schedule.agent === undefined ? KEEPERS : DELEGATORS, schedule.keeper)
        .nudgeOccurrence(occurrenceKey, news);
    else await objects.root(DELIVERERS).nudgeBroadcast(broadcast.id, broadcast.target);
  } catch (error) {
    log.info("schedule.not-nudged", { code: failureCode(error) });
  }
}
