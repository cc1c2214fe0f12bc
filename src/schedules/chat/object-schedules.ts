import type { ThinkActions } from "../../actions/declare/action.ts";
import { SCHEDULE_DELETED } from "../../core/turn/scheduled-run.ts";
import { logBotFailure } from "../../core/time/bot-code.ts";
import type { CardPress, PressAnswer } from "../../core/chat/card-press.ts";
import { localText } from "../../core/text/bot-texts.ts";
import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import { getTurn } from "../../core/turn/turn-context.ts";
import { checkTasks, type CheckedTask } from "../rules/check-tasks.ts";
import { runOccurrence } from "../runs/run-occurrence.ts";
import { Schedules, type OwnerTold, type SchedulesOptions } from "../runs/schedules.ts";
import type { StepResult } from "../runs/step-result.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import type { Occurrence, OccurrenceFilter, OccurrenceRecord, OwnerNews } from "../rules/occurrence.ts";
import type { TurnNews } from "../../scheduled-runs/nudge-keeper.ts";
import type { StoredTask } from "../stored/schedule-store.ts";
import type { ScheduledTaskRecord } from "../stored/task-record.ts";
import type { ThinkCommands } from "../../messengers/declare/commands.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import { ChatSchedulePresses } from "./chat-schedule-presses.ts";
import { ChatSchedules } from "./chat-schedules.ts";
import { ROOT } from "../../messengers/root/root-link.ts";
import { SCHEDULED_RUNS, type ScheduledTurnCalls } from "../../scheduled-runs/scheduled-turns.ts";
import { ManyChats } from "./many-chats.ts";
import { OccurrenceObjects, TASK } from "./occurrence-objects.ts";
import { OwnerPresses, type OwnedTasks } from "./owner-presses.ts";
import { scheduleActions } from "./schedule-actions.ts";
import { ScheduleNews } from "./schedule-news.ts";
import { TaskTargets } from "./task-targets.ts";

/**
 * The scheduled tasks of one object: connects `Schedules`, which decides what runs and when, with the conversations and
 * chats. `OccurrenceObjects` makes the calls of its steps, `TaskTargets` finds chats, `ScheduleNews` tells owners, and
 * `ChatSchedules` has what people have made here.
 */
export class ObjectSchedules implements SchedulesOptions, OwnedTasks {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly schedules: Schedules;
  /** Schedules that people have made here. */
  readonly chat: ChatSchedules;
  readonly #host: SchedulesObject;
  readonly #ownerPresses: OwnerPresses;
  readonly #chatPresses: ChatSchedulePresses;
  readonly #news: ScheduleNews;
  readonly #calls: OccurrenceObjects;
  readonly #many: ManyChats;
  #starting: Promise<void> | undefined;
  /** The mistake in the declaration, beside which the schedules of people go on. */
  #problem: Error | undefined;

  constructor(host: SchedulesObject) {
    this.#host = host;
    this.database = host.database;
    this.deps = host.deps;
    const conversation = host.objects.conversation();
    // `/health` counts failures by conversation.
    const log = conversation === undefined ? host.log : host.log.with({ conversation });
    this.log = log;
    const schedules = new Schedules(this);
    this.schedules = schedules;
    const chat = new ChatSchedules({ host, log, schedules });
    this.chat = chat;
    const targets = new TaskTargets(host);
    const parts = { host, log, schedules, chat, targets };
    const many = new ManyChats({
      broadcasts: () => host.features.manyChats,
      targetsOf: (deliverTo) => targets.named(deliverTo),
    });
    this.#many = many;
    this.#calls = new OccurrenceObjects({ ...parts, many });
    this.#news = new ScheduleNews(parts);
    this.#ownerPresses = new OwnerPresses(host, this);
    this.#chatPresses = new ChatSchedulePresses(host, chat);
  }

  run(occurrence: Occurrence, task: CheckedTask, stored: StoredTask): Promise<StepResult> {
    return runOccurrence(this.#calls, occurrence, task, stored);
  }

  tellOwner(task: CheckedTask, occurrence: Occurrence, news: OwnerNews): Promise<OwnerTold> {
    return this.#news.tell(task, occurrence, news);
  }

  onChange(): void {
    this.#host.wakeSoon();
  }

  /** A person who deletes a schedule expects nothing of it any more. Turns of declared tasks go on. */
  async onRemoved(occurrence: Occurrence): Promise<void> {
    if (isMadeInChat(occurrence.taskId)) await this.#endTurns(occurrence);
  }

  async endRuns(task: string): Promise<void> {
    this.schedules.skipUnbegun(task, SCHEDULE_DELETED);
    for (const open of this.schedules.openOf(task)) await this.#endTurns(open);
  }

  async #endTurns({ legs }: Occurrence): Promise<void> {
    const turnsOf = (conversation: string): ScheduledTurnCalls =>
      this.#host.objects.to(SCHEDULED_RUNS, conversation);
    for (const { conversation, isBroadcast, submissionId } of legs)
      if (isBroadcast === true) await this.#many.end(submissionId, turnsOf);
      else await turnsOf(conversation).end(submissionId);
  }

  /** Makes the next step of an occurrence now. @param news the state of one of its turns */
  nudge(key: string, news: TurnNews | undefined): void {
    if (news !== undefined) this.#calls.told(news);
    this.schedules.nudge(key);
  }

  /**
   * Makes the stored tasks those of `getScheduledTasks()`.
   *
   * @throws {ConfigurationError} `scheduled-task-invalid`
   */
  async reconcile(): Promise<void> {
    const { objects } = this.#host;
    const conversation = objects.conversation();
    if (conversation?.startsWith(TASK) === true) return;
    // Only conversations that somebody has written to have tasks of their own.
    if (conversation !== undefined && this.schedules.tasks.isEmpty() && this.allTasks().length > 0) {
      const located = await objects.root(ROOT).locateTarget({ conversation: objects.address() });
      if (located.kind === "refused") return;
    }
    this.schedules.tasks.reconcile();
    this.chat.sweep();
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** Resolves when the tasks are known. A mistake in the declaration is logged, and the bot answers as before. */
  start(): Promise<void> {
    this.#starting ??= this.reconcile().catch((error: unknown) => {
      logBotFailure(this.log, "getScheduledTasks", error);
    });
    return this.#starting;
  }

  /** The actions with which the model makes schedules, if the bot has switched them on. */
  actions(): ThinkActions {
    const { agent, deps } = this.#host;
    if (agent.chatSchedules === false) return {};
    return scheduleActions({
      chat: this.chat,
      // A schedule makes no schedules: the data that it reads may say anything.
      address: () => (isOfSchedule(getTurn()) ? undefined : getTurn()?.answerTo[0]),
      now: () => deps.clock.now(),
    });
  }

  /** `/schedules`, if the bot has switched it on. */
  commands(): ThinkCommands {
    if (this.#host.agent.chatSchedules === false) return {};
    return {
      schedules: {
        description: localText(this.#host.agent.texts ?? {}, "schedulesCommand"),
        handler: async ({ event }) => {
          await this.start();
          return this.chat.listCard(event.author);
        },
      },
    };
  }

  list(filter?: OccurrenceFilter): OccurrenceRecord[] {
    return this.schedules.list(filter);
  }

  /** The stored tasks of this object, declared ones and those made in its chats. */
  tasks(): ScheduledTaskRecord[] {
    return this.schedules.tasks.records().map((task) => {
      const made = this.chat.get(task.taskId);
      const madeBy = made?.madeBy.fullName ?? made?.madeBy.userId;
      return { ...task, isMadeInChat: made !== undefined, ...(madeBy !== undefined && { madeBy }) };
    });
  }

  /** Takes a press of a task's card. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return this.#ownerPresses.pressed(press) ?? this.#chatPresses.pressed(press);
  }

  /** All tasks that this object has now. */
  allTasks(): CheckedTask[] {
    this.#problem = undefined;
    const made = this.chat.tasks();
    try {
      return [...this.#declaredTasks(), ...made];
    } catch (error) {
      // Declared tasks keep their rows while they are wrong.
      const isDeclared = this.schedules.tasks.storedIds().some((id) => !isMadeInChat(id));
      if (made.length === 0 || isDeclared) throw error;
      this.#problem = error instanceof Error ? error : new Error("getScheduledTasks() has failed.");
      return made;
    }
  }

  #declaredTasks(): CheckedTask[] {
    const { agent, objects } = this.#host;
    const scope = objects.isRoot() ? "root" : "conversation";
    const declared = Object.entries(agent.getScheduledTasks());
    const own = declared.filter(([, task]) => (task?.scope ?? "root") === scope);
    return checkTasks(Object.fromEntries(own), agent.getDefaultTimezone());
  }
}

/** The ids of declared tasks have no such sign. */
function isMadeInChat(taskId: string): boolean {
  return taskId.startsWith("#");
}

function isOfSchedule(turn: TurnInfo | undefined): boolean {
  return turn?.metadata?.["scheduledTask"] !== undefined;
}
