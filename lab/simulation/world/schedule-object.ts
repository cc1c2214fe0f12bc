import type { Deps } from "../../../src/core/deps.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Address } from "../../../src/core/surface.ts";
import { runOccurrence } from "../../../src/schedules/runs/run-occurrence.ts";
import { Schedules } from "../../../src/schedules/runs/schedules.ts";
import type { CheckedTask } from "../../../src/schedules/rules/check-tasks.ts";
import type { OccurrenceRecord, Target } from "../../../src/schedules/rules/occurrence.ts";
import type { LegReport, LegRequest } from "../../../src/scheduled-runs/leg.ts";
import type { ScheduledTurns } from "../../../src/scheduled-runs/scheduled-turns.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import { callOver } from "../machine/rpc.ts";
import type { Wire } from "../machine/rpc.ts";
import { returnStorage, takeStorage } from "../machine/storage.ts";
import type { InboxWatch } from "../oracle/inbox-watch.ts";
import type { PlannedSchedule, ScheduleWatch } from "../oracle/schedule-watch.ts";

export interface ScheduleObjectOptions {
  readonly plans: readonly PlannedSchedule[];
  readonly wire: Wire;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly log: Log;
  readonly watch: ScheduleWatch;
  readonly inbox: Pick<InboxWatch, "arrives" | "stored">;
  /** The chats of a task, each with the name of its conversation's object. */
  readonly targetsOf: (plan: PlannedSchedule) => readonly Target[];
  /** The turns of a conversation, by the name of its object. */
  readonly turnsOf: (conversation: string) => {
    scheduled<Value>(body: (turns: ScheduledTurns) => Promise<Value>): Promise<Value>;
  };
  readonly mutant: Mutant | undefined;
}

interface Live {
  readonly life: Life;
  readonly schedules: Schedules;
  timer: unknown;
}

/** Name of the object. */
export const SCHEDULES = "schedules";

/** Later than this after its time, an occurrence is skipped. */
const RUN_WITHIN_MS = 20_000;
/** How long the turn in a task's own object takes. */
const TASK_TURN_MS = 700;

/**
 * The root's scheduled tasks: the real ones over storage that outlives the process, and conversations that are objects
 * of the run. A task's own object is a row with the time at which its turn ends.
 */
export class ScheduleObject {
  readonly database: NodeDatabase = takeStorage(SCHEDULES);
  readonly #options: ScheduleObjectOptions;
  /** The turns of the tasks' own objects. */
  readonly #taskTurns = new Map<string, number>();
  #live: Live | undefined;

  constructor(options: ScheduleObjectOptions) {
    this.#options = options;
  }

  list(): readonly OccurrenceRecord[] {
    return this.#ensure().schedules.list({ limit: 1_000 });
  }

  /** The object's alarm fires, or its machine is back. */
  wake(): void {
    if (this.#options.wire.isDown()) return;
    const live = this.#ensure();
    const { life, schedules } = live;
    void life.guard(() => {
      schedules.work();
      const next = schedules.nextWakeAt();
      const { clock } = life;
      clock.clearTimeout(live.timer);
      if (next === undefined) return;
      live.timer = clock.setTimeout(() => this.wake(), Math.max(1, next - clock.now()));
    });
  }

  kill(): void {
    this.#live?.life.kill();
    this.#live = undefined;
  }

  close(): void {
    this.kill();
    returnStorage(SCHEDULES, this.database);
  }

  #ensure(): Live {
    if (this.#live !== undefined && !this.#live.life.isDead) return this.#live;
    const { deps, log, mutant, newLife, plans, watch } = this.#options;
    const life = newLife();
    const hooked = this.database.withHooks({
      beforeWrite: () => life.boundary("before write"),
      afterWrite: () => life.boundary("after write"),
    });
    const { clock } = life;
    mutant?.onScheduleStart?.(this.database);
    const schedules: Schedules = new Schedules({
      database: mutant?.scheduleDatabase?.(hooked) ?? hooked,
      deps: deps(life),
      log,
      tasks: () => plans.map(taskOf),
      run: (occurrence, task, stored) => {
        const plan = plans.find((one) => one.task === task.id);
        return runOccurrence(
          {
            clock,
            log,
            name: "root",
            runsIn: (taskId) => `${TASK}${taskId}`,
            find: async () => ({
              kind: "found",
              targets: plan === undefined ? [] : this.#options.targetsOf(plan),
            }),
            promptOf: () => "digest",
            introductionOf: () => "digest",
            submit: (conversation, request) => this.#submit(life, conversation, request, occurrence.key),
            report: (conversation, id) => this.#report(life, conversation, id),
            runOf: async (of, { key }) => ({
              schedule: { keeper: "", taskId: of.id, revision: "1" },
              occurrenceKey: key,
            }),
            remind: () => undefined,
            reportCard: () => ({ state: "failed", code: "card-lost" }),
            usedToday: () => ({ tokens: 0, cost: 0 }),
            broadcast: () => Promise.resolve(),
            reportBroadcast: () => Promise.resolve({ state: "failed", code: "broadcast-lost" }),
            save: (changed) => schedules.save(changed),
          },
          occurrence,
          task,
          stored,
        );
      },
      tellOwner: async (task, { key }, news) => {
        life.write("card of the owner", () => watch.tell(task.id, key, news));
        return { kind: "told" };
      },
      onChange: () => void Promise.resolve().then(() => !life.isDead && this.wake()),
    });
    const live: Live = { life, schedules, timer: undefined };
    this.#live = live;
    schedules.tasks.reconcile();
    life.started();
    return live;
  }

  async #submit(life: Life, conversation: string, request: LegRequest, occurrence: string): Promise<void> {
    if (conversation.startsWith(TASK)) {
      const endsAt = life.clock.now() + TASK_TURN_MS;
      const known = this.#taskTurns.get(request.id) ?? endsAt;
      life.write("turn of a task", () => this.#taskTurns.set(request.id, known));
      return;
    }
    const { inbox, turnsOf, watch, wire } = this.#options;
    const threadId = (request.address as Address).threadId;
    const token = watch.tokenOf(request.id, occurrence, threadId);
    await callOver(wire, life, "schedule", () => {
      inbox.arrives(token, threadId, undefined);
      // The model of the run says words of its own: a recited text is a question like any other.
      const asked = { ...request, prompt: token, recites: undefined };
      return turnsOf(conversation).scheduled((turns) => turns.submit(asked));
    });
    inbox.stored(token);
  }

  async #report(life: Life, conversation: string, id: string): Promise<LegReport> {
    if (conversation.startsWith(TASK)) {
      const endsAt = this.#taskTurns.get(id);
      if (endsAt === undefined) return { state: "failed", code: "turn-lost" };
      return endsAt > life.clock.now() ? { state: "open" } : { state: "completed", text: "digest" };
    }
    const { turnsOf, wire } = this.#options;
    return callOver(wire, life, "report", () => turnsOf(conversation).scheduled((turns) => turns.report(id)));
  }
}

const TASK = "task:";

function taskOf({ count, everyMs, fanOut, maxAttempts, task }: PlannedSchedule): CheckedTask {
  return {
    id: task,
    schedule: "",
    kind: "interval",
    rule: { kind: "interval", everyMs },
    zone: undefined,
    scope: "root",
    work: { kind: "prompt", prompt: "digest", deliverTo: "all", fanOut, source: undefined },
    metadata: undefined,
    maxAttempts,
    ifLate: { runWithinMs: RUN_WITHIN_MS, otherwise: "skip" },
    jitterMs: 0,
    until: undefined,
    count,
    owner: undefined,
  };
}
