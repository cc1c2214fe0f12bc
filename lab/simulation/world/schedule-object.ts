import { createBroadcastStore } from "../../../src/broadcasts/broadcast-store.ts";
import { Broadcasts } from "../../../src/broadcasts/broadcasts.ts";
import { createSubscriberStore } from "../../../src/broadcasts/subscriber-store.ts";
import { takenAs } from "../../../src/core/turn/broadcast.ts";
import type { HandOver, HandOverResult } from "../../../src/core/turn/broadcast.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import type { Log } from "../../../src/core/base/log.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { ManyChats } from "../../../src/schedules/chat/many-chats.ts";
import { runOccurrence } from "../../../src/schedules/runs/run-occurrence.ts";
import { Schedules } from "../../../src/schedules/runs/schedules.ts";
import type { CheckedTask } from "../../../src/schedules/rules/check-tasks.ts";
import type { OccurrenceRecord, Target } from "../../../src/schedules/rules/occurrence.ts";
import type { LegReport, LegRequest } from "../../../src/scheduled-runs/leg.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import type { Database } from "../../../src/core/store/database.ts";
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
  /** Returns a conversation, by the name of its object. */
  readonly conversation: (name: string) => { take(request: HandOver): Promise<HandOverResult> };
  readonly mutant: Mutant | undefined;
}

interface Live {
  readonly life: Life;
  readonly schedules: Schedules;
  readonly broadcasts: Broadcasts;
  timer: unknown;
  alarm: unknown;
}

/** Name of the object. */
export const SCHEDULES = "schedules";

/** Later than this after its time, an occurrence is skipped. */
const RUN_WITHIN_MS = 20_000;
/** How long the turn in a task's own object takes. */
const TASK_TURN_MS = 700;

/**
 * The root's scheduled tasks and their deliveries: the real ones over storage that outlives the process, and
 * conversations that are objects of the run. A task's own object is a row with the time at which its turn ends.
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

  /** A conversation tells that the outcome of a delivery is known. */
  async nudge(id: string, target: string): Promise<void> {
    this.#ensure().broadcasts.nudge(id, target);
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
    const database = mutant?.scheduleDatabase?.(hooked) ?? hooked;
    const broadcasts = this.#broadcastsOf(life, database, (key) => schedules.nudge(key));
    const many = new ManyChats({
      broadcasts: () => ({
        startBroadcast: (request) => broadcasts.start(request),
        getBroadcast: async (id) => broadcasts.get(id),
        broadcastReceipts: async (id, filter) => broadcasts.receipts(id, filter),
        cancelBroadcast: async (id) => broadcasts.cancel(id),
      }),
      targetsOf: async () => [],
    });
    const schedules: Schedules = new Schedules({
      database,
      deps: deps(life),
      log,
      allTasks: () => plans.map(taskOf),
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
            submit: (_conversation, request) => this.#submit(life, request, occurrence.key),
            report: async (_conversation, id) => this.#report(life, id),
            runOf: async (of, { key }) => ({
              schedule: { keeper: "", taskId: of.id, revision: "1" },
              occurrenceKey: key,
            }),
            remind: () => undefined,
            reportCard: () => ({ state: "failed", code: "card-lost" }),
            usedToday: () => ({ tokens: 0, cost: 0 }),
            broadcast: (...delivery) => many.begin(...delivery),
            reportBroadcast: (...asked) => many.report(...asked),
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
    const live: Live = { life, schedules, broadcasts, timer: undefined, alarm: undefined };
    this.#live = live;
    schedules.tasks.reconcile();
    makeTables(database);
    life.started();
    if (broadcasts.hasWork()) this.#wakeBroadcasts(life, life.clock.now());
    return live;
  }

  #broadcastsOf(life: Life, database: Database, nudge: (key: string) => void): Broadcasts {
    const { deps, log } = this.#options;
    return new Broadcasts({
      deps: deps(life),
      log,
      store: createBroadcastStore(database),
      subscribers: createSubscriberStore(database),
      chats: () => ({ chats: [] }),
      placeOf: (target) => {
        const address = target as Address;
        // The caller knows the conversation.
        return { kind: "found", address, conversation: "", key: address.threadId };
      },
      quietUntil: async () => undefined,
      pay: async () => undefined,
      handOver: (conversation, request) => this.#handOver(life, conversation, request),
      wakeAt: (at) => this.#wakeBroadcasts(life, at),
      onProgress: ({ run }) => {
        if (run !== undefined && !life.isDead) nudge(run.occurrenceKey);
      },
    });
  }

  /** Sets the alarm of the deliveries, which a process sets again when it starts. */
  #wakeBroadcasts(life: Life, at: number | undefined): void {
    const live = this.#live;
    if (live?.life !== life || life.isDead) return;
    const { broadcasts } = live;
    life.clock.clearTimeout(live.alarm);
    if (at === undefined) return;
    const run = (): void => void life.guard(() => broadcasts.run());
    live.alarm = life.clock.setTimeout(run, Math.max(1, at - life.clock.now()));
  }

  async #submit(life: Life, { id }: LegRequest, occurrence: string): Promise<void> {
    const endsAt = life.clock.now() + TASK_TURN_MS;
    const known = this.#taskTurns.get(id) ?? endsAt;
    life.write("turn of a task", () => this.#taskTurns.set(id, known));
    // It tells its end by itself.
    const inMs = Math.max(1, known - life.clock.now());
    life.clock.setTimeout(() => void life.guard(() => this.#live?.schedules.nudge(occurrence)), inMs);
  }

  #report(life: Life, id: string): LegReport {
    const endsAt = this.#taskTurns.get(id);
    if (endsAt === undefined) return { state: "failed", code: "turn-lost" };
    return endsAt > life.clock.now() ? { state: "open" } : { state: "completed", text: "digest" };
  }

  /** The model of the run says words of its own: a text is a question like any other. */
  async #handOver(life: Life, conversation: string, request: HandOver): Promise<HandOverResult> {
    const { conversation: named, inbox, watch, wire } = this.#options;
    const { address, broadcastId, work } = request;
    const { threadId } = address;
    const id = takenAs(broadcastId, address);
    const token = watch.tokenOf(id, work.run?.occurrenceKey ?? "", threadId);
    inbox.arrives(token, threadId, undefined);
    const asked = {
      ...request,
      work: {
        kind: "prompt" as const,
        messages: [{ id, role: "user" as const, parts: [{ type: "text" as const, text: token }] }],
        run: work.run,
      },
    };
    const result = await callOver(wire, life, "schedule", () => named(conversation).take(asked));
    if (result.state !== "skipped" || result.code !== "expired") inbox.stored(token);
    return result;
  }
}

/** A process makes its tables before it can die. */
function makeTables(database: Database): void {
  const store = createBroadcastStore(database);
  if (store.get("none") !== undefined) return;
  const work = { kind: "content", content: "", informModel: false } as const;
  store.insert({ id: "none", hash: "", work, isSubscribed: false, createdAt: 0, expiresAt: 0 });
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
