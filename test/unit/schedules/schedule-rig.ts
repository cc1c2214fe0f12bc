import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../lab/support/node-database.ts";
import { checkTasks } from "../../../src/schedules/rules/check-tasks.ts";
import type { CheckedTask } from "../../../src/schedules/rules/check-tasks.ts";
import { runOccurrence } from "../../../src/schedules/runs/run-occurrence.ts";
import { createBroadcastStore } from "../../../src/broadcasts/broadcast-store.ts";
import { Broadcasts } from "../../../src/broadcasts/broadcasts.ts";
import { createSubscriberStore } from "../../../src/broadcasts/subscriber-store.ts";
import { takenAs } from "../../../src/core/turn/broadcast.ts";
import type { BroadcastWork, HandOver, HandOverResult } from "../../../src/core/turn/broadcast.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { ManyChats } from "../../../src/schedules/chat/many-chats.ts";
import type { FoundTargets } from "../../../src/schedules/runs/occurrence-host.ts";
import type { LegReport, LegRequest } from "../../../src/scheduled-runs/leg.ts";
import { quietUntil } from "../../../src/scheduled-runs/quiet-hours.ts";
import type { CheckedQuietHours } from "../../../src/scheduled-runs/quiet-hours.ts";
import type { ThinkScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";
import { Schedules } from "../../../src/schedules/runs/schedules.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

/** A turn in the object of a conversation. */
export interface FakeTurn {
  readonly conversation: string;
  readonly request: LegRequest;
}

class Dead extends Error {}

/** A turn of a task's own object tells its end after this. */
const TURN_MS = 100;

/**
 * The scheduled tasks and the broadcasts of a root, whose process a test can kill at any point, and fake conversations.
 */
export class ScheduleRig {
  readonly clock: VirtualClock;
  /** The turns that conversations have taken, each once, in order. */
  readonly turns: FakeTurn[] = [];
  readonly told: string[] = [];
  /** The turns that were ended because their task was removed, each once. */
  readonly ended: string[] = [];
  /** Whether the object of a conversation can be reached to end a turn. */
  canEnd = true;
  /** Cards of reminders, each once. */
  readonly reminders: string[] = [];
  /** Deliveries to chats, each once. */
  readonly broadcasts: { readonly id: string; readonly work: BroadcastWork }[] = [];
  /** How the turns end. */
  report: (turn: FakeTurn) => LegReport = ({ request }) =>
    request.address === undefined
      ? { state: "completed", text: "The digest." }
      : { state: "completed", messageIds: [`m-${request.id}`] };
  find: () => FoundTargets = () => ({ kind: "found", targets: [targetOf("c1")] });
  /** How cards of reminders end. Undefined: they are shown. */
  card: LegReport | undefined;
  /** Quiet hours of chats. */
  quiet: Readonly<Record<string, CheckedQuietHours>> = {};
  tasks: ThinkScheduledTasks;
  /** Tasks that people have made. */
  made: CheckedTask[] = [];
  /** Until when the chat of an owner is quiet, in epoch milliseconds. */
  ownerQuietUntil = 0;
  /** Whether the chat of an owner can be written to. */
  canTellOwner = true;
  /** Decides how late a task with `jitterMs` starts. */
  random: () => number = () => 0;
  schedules: Schedules;
  many: ManyChats;
  /** Number of points passed at which the process can be killed. */
  points = 0;
  /**
   * The points that stand for all: at one that is left out, a process that dies leaves the same as at the one before.
   */
  readonly deaths: number[] = [];
  /** The process dies at the point with this number. */
  killAt = Number.POSITIVE_INFINITY;
  kills = 0;
  readonly #database: NodeDatabase = createNodeDatabase();
  /** When turns of tasks' own objects tell their ends. */
  readonly #tellAt: number[] = [];
  #leftBefore = "";
  #process = { isDead: false };
  #alarmAt = Number.POSITIVE_INFINITY;
  #broadcasts: Broadcasts;
  #ids = 0;

  constructor(tasks: ThinkScheduledTasks, now = "2026-11-18T12:00:00Z") {
    this.tasks = tasks;
    this.clock = createVirtualClock(Date.parse(now));
    createSubscriberStore(this.#database).add(targetOf("c1").address, 0);
    makeBroadcastTables(this.#database);
    ({ broadcasts: this.#broadcasts, many: this.many, schedules: this.schedules } = this.#start());
  }

  /** Ends the process, and starts another one. */
  restart(): void {
    this.#process.isDead = true;
    ({ broadcasts: this.#broadcasts, many: this.many, schedules: this.schedules } = this.#start());
  }

  /** Somebody stops a task for good. */
  async stop(taskId: string): Promise<void> {
    this.schedules.tasks.pause(taskId, true);
    this.schedules.skipUnbegun(taskId, "schedule-deleted");
    for (const { legs } of this.schedules.openOf(taskId))
      for (const { isBroadcast, submissionId } of legs)
        if (isBroadcast === true) await this.many.end(submissionId, () => ({ end: async () => undefined }));
  }

  /** Runs everything that is due until then. */
  async runUntil(time: string): Promise<void> {
    const end = Date.parse(time);
    for (let rounds = 0; rounds < 5000; rounds += 1) {
      this.#guarded(() => this.schedules.work());
      await this.clock.advance(0);
      if (this.#process.isDead) {
        this.restart();
        continue;
      }
      if (this.#alarmAt <= this.clock.now()) {
        this.#alarmAt = Number.POSITIVE_INFINITY;
        this.#guarded(() => void this.#broadcasts.run());
        await this.clock.advance(0);
        continue;
      }
      const now = this.clock.now();
      const next = Math.min(this.schedules.nextWakeAt() ?? Number.POSITIVE_INFINITY, this.#alarmAt);
      const told = Math.min(...this.#tellAt.filter((at) => at > now));
      if (Math.min(next, told) > end) break;
      await this.clock.advance(Math.max(1, Math.min(next, told) - now));
    }
    await this.clock.advance(Math.max(0, end - this.clock.now()));
  }

  /** The states and codes of a task's occurrences, oldest first. */
  ends(taskId: string): string[] {
    return this.schedules
      .list({ taskId })
      .toReversed()
      .map(
        ({ code, scheduledFor, state }) =>
          `${new Date(scheduledFor).toISOString().slice(5, 16)} ${state}${code === undefined ? "" : `: ${code}`}`,
      );
  }

  /** Everything that outlives a process. */
  #left(): string {
    const { broadcasts, ended, reminders, told, turns } = this;
    const lists = [broadcasts, ended, reminders, told, turns, this.#tellAt].map(({ length }) => length);
    return [this.clock.now(), this.#database.changes(), this.#alarmAt, this.#ids, ...lists].join();
  }

  #start(): { readonly broadcasts: Broadcasts; readonly many: ManyChats; readonly schedules: Schedules } {
    const process = { isDead: false };
    this.#process = process;
    const point = (): void => {
      if (process.isDead) throw new Dead();
      this.points += 1;
      const left = this.#left();
      if (left !== this.#leftBefore) this.deaths.push(this.points);
      this.#leftBefore = left;
      if (this.points !== this.killAt) return;
      process.isDead = true;
      this.kills += 1;
      throw new Dead();
    };
    const clock = this.clock.process();
    const { log } = recordLog();
    const database = this.#database.withHooks({ beforeWrite: point, afterWrite: point });
    const broadcasts = new Broadcasts({
      deps: { clock, newId: () => "none" },
      log,
      store: createBroadcastStore(database),
      subscribers: createSubscriberStore(database),
      chats: () => ({ chats: [] }),
      placeOf: (target) => {
        const address = target as Address;
        return { kind: "found", address, conversation: `thread:${address.chatId}`, key: address.threadId };
      },
      quietUntil: async ({ chatId }) => {
        const hours = this.quiet[chatId];
        return hours && quietUntil(hours, clock.now());
      },
      pay: async () => undefined,
      handOver: async (conversation, request) => {
        point();
        const result = this.#take(conversation, request, clock.now());
        point();
        return result;
      },
      wakeAt: (at = Number.POSITIVE_INFINITY) => {
        if (!process.isDead) this.#alarmAt = at;
      },
      onProgress: ({ run }) => {
        if (run !== undefined && !process.isDead) schedules.nudge(run.occurrenceKey);
      },
    });
    const many = new ManyChats({
      broadcasts: () => ({
        startBroadcast: (request) => broadcasts.start(request),
        getBroadcast: async (id) => broadcasts.get(id),
        broadcastReceipts: async (id, filter) => broadcasts.receipts(id, filter),
        cancelBroadcast: async (id) => broadcasts.cancel(id),
      }),
      targetsOf: async () => [targetOf("c1").address],
    });
    const schedules: Schedules = new Schedules({
      database,
      deps: { clock, newId: () => `id-${(this.#ids += 1)}`, random: () => this.random() },
      log,
      allTasks: () => [...checkTasks(this.tasks, "UTC"), ...this.made],
      run: (occurrence, task, stored) =>
        runOccurrence(
          {
            clock,
            log,
            name: "root",
            runsIn: (taskId) => `task:${taskId}`,
            find: async () => {
              point();
              return this.find();
            },
            promptOf: ({ work }) => (work.kind === "prompt" ? work.prompt : ""),
            introductionOf: () => "A digest follows.",
            submit: async (conversation, request) => {
              point();
              const known = this.turns.some((turn) => turn.request.id === request.id);
              if (!known) this.turns.push({ conversation, request });
              point();
              const { run } = request;
              if (run === undefined) return;
              this.#tellAt.push(clock.now() + TURN_MS);
              clock.setTimeout(() => this.#guarded(() => schedules.nudge(run.occurrenceKey)), TURN_MS);
            },
            report: async (_conversation, id) => {
              point();
              const turn = this.turns.find(({ request }) => request.id === id);
              return turn === undefined ? { state: "failed", code: "turn-lost" } : this.report(turn);
            },
            runOf: async (of, { key }) => ({
              schedule: { keeper: "", taskId: of.id, revision: "1" },
              occurrenceKey: key,
            }),
            quietUntil: async ({ chatId }) => {
              point();
              const hours = this.quiet[chatId];
              return hours && quietUntil(hours, clock.now());
            },
            replaceQuiet: (newer, address) => schedules.replaceQuiet(newer, address),
            remind: (id) => {
              point();
              if (!this.reminders.includes(id)) this.reminders.push(id);
              point();
            },
            reportCard: (id) => {
              point();
              if (this.card !== undefined) return this.card;
              return this.reminders.includes(id)
                ? { state: "completed", messageIds: ["1"] }
                : { state: "failed", code: "card-lost" };
            },
            usedToday: (taskId) => schedules.usedSince(taskId, clock.now() - 86_400_000),
            broadcast: async (id, work, to) => {
              point();
              await many.begin(id, work, to);
              point();
            },
            reportBroadcast: (id, isListed) => many.report(id, isListed),
            save: (changed) => schedules.save(changed),
          },
          occurrence,
          task,
          stored,
        ),
      onRemoved: async ({ legs }) => {
        for (const { submissionId } of legs) {
          point();
          if (!this.canEnd) throw new Error("unreachable");
          if (!this.ended.includes(submissionId)) this.ended.push(submissionId);
          point();
        }
      },
      tellOwner: async (task, { key }, news) => {
        point();
        if (news === "too-late" && clock.now() < this.ownerQuietUntil)
          return { kind: "later", at: this.ownerQuietUntil };
        if (!this.canTellOwner) return { kind: "not-told" };
        const line = `${task.id} ${news} ${key}`;
        if (!this.told.includes(line)) this.told.push(line);
        point();
        return { kind: "told" };
      },
      onChange: () => undefined,
    });
    this.#guarded(() => schedules.tasks.reconcile());
    if (process.isDead) return this.#start();
    if (broadcasts.hasWork()) this.#alarmAt = clock.now();
    return { broadcasts, many, schedules };
  }

  /** The conversation of a chat takes a message of a delivery. */
  #take(
    conversation: string,
    { address, broadcastId, notAfter, work }: HandOver,
    now: number,
  ): HandOverResult {
    const id = takenAs(broadcastId, address);
    let turn = this.turns.find(({ request }) => request.id === id);
    if (turn === undefined) {
      if (now > notAfter) return { state: "skipped", code: "expired" };
      const recites = work.kind === "content" && typeof work.content === "string" ? work.content : undefined;
      turn = { conversation, request: { id, prompt: "", recites, address, metadata: undefined } };
      this.turns.push(turn);
      if (!this.broadcasts.some((one) => one.id === broadcastId))
        this.broadcasts.push({ id: broadcastId, work });
    }
    const { code, messageIds = [], state, usage } = this.report(turn);
    switch (state) {
      case "open":
        return { state: "waiting" };
      case "waiting":
        return { state: "waiting", isDeciding: true };
      case "failed":
      case "skipped":
        return { state, code: code ?? "failed", messageIds, usage };
      case "completed":
        return messageIds.length === 0
          ? { state: "skipped", code: "no-answer", usage }
          : { state: "sent", code, deliveryId: id, messageIds, usage };
    }
  }

  #guarded(body: () => void): void {
    try {
      body();
    } catch (error) {
      if (!(error instanceof Dead)) throw error;
    }
  }
}

/** A process makes its tables before it can die. */
function makeBroadcastTables(database: NodeDatabase): void {
  const work = { kind: "content", content: "", informModel: false } as const;
  const times = { createdAt: 0, expiresAt: 0 };
  createBroadcastStore(database).insert({ id: "none", hash: "", work, isSubscribed: false, ...times });
}

export function targetOf(chat: string): {
  readonly conversation: string;
  readonly address: {
    readonly messengerId: string;
    readonly threadId: string;
    readonly chatId: string;
    readonly isDirectMessage: boolean;
  };
} {
  return {
    conversation: `thread:${chat}`,
    address: { messengerId: "fake", threadId: `fake:${chat}`, chatId: chat, isDirectMessage: true },
  };
}
