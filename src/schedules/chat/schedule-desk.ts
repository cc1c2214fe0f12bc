import type { ThinkActions } from "../../actions/action.ts";
import { SCHEDULE_DELETED } from "../../core/scheduled-run.ts";
import { logBotFailure } from "../../core/bot-code.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { ChatEntry } from "../../core/chat.ts";
import type { CardContent } from "../../core/content.ts";
import { localText, sayIn } from "../../core/bot-texts.ts";
import type { BotTexts, Say } from "../../core/bot-texts.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { Address } from "../../core/surface.ts";
import { getTurn } from "../../core/turn-context.ts";
import { checkTasks } from "../rules/check-tasks.ts";
import { runOccurrence } from "../runs/run-occurrence.ts";
import { Schedules } from "../runs/schedules.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, OccurrenceFilter, OccurrenceRecord } from "../rules/occurrence.ts";
import type { LegReport } from "../../scheduled-runs/leg.ts";
import type { TurnNews } from "../../scheduled-runs/nudge-keeper.ts";
import type { ScheduledTaskRecord } from "../stored/task-record.ts";
import type { ThinkCommands } from "../../messengers/declare/commands.ts";
import type { ManyChatsSender } from "../../core/broadcast.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { QuietHoursMethods } from "../../scheduled-runs/chat-quiet-hours.ts";
import type { ChatScheduleOptions } from "../rules/chat-schedule.ts";
import type { ThinkScheduledTasks } from "../rules/scheduled-task.ts";
import { ChatSchedulePresses } from "./chat-schedule-presses.ts";
import { ChatSchedules } from "./chat-schedules.ts";
import type { RootCalls } from "../../messengers/root/root-link.ts";
import type { ScheduledTurnCalls } from "../../scheduled-runs/scheduled-turns.ts";
import type { ZoneCalls } from "./person-zones.ts";
import { ManyChats } from "./many-chats.ts";
import { OccurrenceCalls, TASK } from "./occurrence-calls.ts";
import { OwnerPresses } from "./owner-presses.ts";
import { scheduleActions } from "./schedule-actions.ts";
import { ScheduleNews } from "./schedule-news.ts";
import { TaskTargets } from "./task-targets.ts";

/** The methods of the bot's class that are about schedules. */
export interface ScheduleMethods extends QuietHoursMethods {
  readonly chatSchedules: boolean | ChatScheduleOptions;
  readonly texts?: BotTexts;
  getScheduledTasks(): ThinkScheduledTasks;
}

export interface ScheduleDeskOptions {
  readonly agent: ScheduleMethods;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  /** The name of the object. */
  readonly name: string;
  /** The name of its conversation. Undefined at the root. */
  readonly conversation: string | undefined;
  /** Where other objects reach this one. */
  readonly address: string;
  readonly root: () => Pick<RootCalls, "locateTarget">;
  /** The root's knowledge of people's time zones. */
  readonly zones: () => ZoneCalls;
  /** Deliveries to chats. */
  readonly broadcasts: () => ManyChatsSender;
  /** The chats that the bot can write to. Only at the root. */
  readonly chats: () => readonly ChatEntry[];
  /** Whether the bot can write to a chat that has subscribed. Only at the root. */
  readonly hasSubscribers: () => Promise<boolean>;
  /** The turns of a conversation. */
  readonly turnsOf: (conversation: string) => ScheduledTurnCalls;
  /** Posts a card once. */
  readonly post: (id: string, address: Address, content: CardContent) => void;
  /** The state of a card that was posted. */
  readonly reportCard: (id: string) => LegReport;
  /** Changes a card. */
  readonly revise: (id: string, content: CardContent) => void;
  /** Whether a card has no buttons any more. */
  readonly isAnswered: (id: string) => boolean;
  /** Makes the loop run soon, even if the object dies before. */
  readonly onChange: () => void;
}

/**
 * The scheduled tasks of one object: connects `Schedules`, which decides what runs and when, with the conversations and
 * chats. `OccurrenceCalls` makes the calls of its steps, `TaskTargets` finds chats, `ScheduleNews` tells owners, and
 * `ChatSchedules` has what people have made here.
 */
export class ScheduleDesk {
  readonly schedules: Schedules;
  /** Schedules that people have made here. */
  readonly chat: ChatSchedules;
  readonly #options: ScheduleDeskOptions;
  readonly #ownerPresses: OwnerPresses;
  readonly #chatPresses: ChatSchedulePresses;
  readonly #news: ScheduleNews;
  readonly #calls: OccurrenceCalls;
  readonly #many: ManyChats;
  #starting: Promise<void> | undefined;
  /** The mistake in the declaration, beside which the schedules of people go on. */
  #problem: Error | undefined;

  constructor(options: ScheduleDeskOptions) {
    this.#options = options;
    const { broadcasts, deps } = options;
    const targets = new TaskTargets({ ...options, clock: deps.clock });
    this.#many = new ManyChats({ broadcasts, targetsOf: (deliverTo) => targets.named(deliverTo) });
    this.#calls = new OccurrenceCalls({
      ...options,
      clock: deps.clock,
      schedules: () => this.schedules,
      chat: () => this.chat,
      targets,
      many: this.#many,
      say: (language) => this.#say(language),
    });
    this.schedules = new Schedules({
      ...options,
      tasks: () => this.#tasks(),
      run: (...step) => runOccurrence(this.#calls, ...step),
      onRemoved: (occurrence) => this.#cancel(occurrence),
      tellOwner: (...news) => this.#news.tell(...news),
    });
    this.chat = new ChatSchedules({
      ...options,
      settings: () => options.agent.chatSchedules,
      defaultZone: () => options.agent.getDefaultTimezone(),
      schedules: () => this.schedules,
      say: (person) => this.#say(person?.language),
    });
    this.#news = new ScheduleNews({
      ...options,
      clock: deps.clock,
      chat: this.chat,
      schedules: this.schedules,
      ownerOf: (task) => targets.ownerOf(task),
      say: (language) => this.#say(language),
    });
    this.#ownerPresses = new OwnerPresses({
      ...options,
      schedules: this.schedules,
      ready: () => this.ready(),
      say: (language) => this.#say(language),
      endRuns: async (task) => {
        this.schedules.skipUnbegun(task, SCHEDULE_DELETED);
        for (const open of this.schedules.openOf(task)) await this.#endTurns(open);
      },
    });
    this.#chatPresses = new ChatSchedulePresses({
      ...options,
      clock: deps.clock,
      schedules: this.chat,
      say: (person) => this.#say(person?.language),
    });
  }

  /** A person who deletes a schedule expects nothing of it any more. Turns of declared tasks go on. */
  async #cancel(occurrence: Occurrence): Promise<void> {
    if (isMadeInChat(occurrence.taskId)) await this.#endTurns(occurrence);
  }

  async #endTurns({ legs }: Occurrence): Promise<void> {
    const { turnsOf } = this.#options;
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
    const { conversation, root } = this.#options;
    if (conversation?.startsWith(TASK) === true) return;
    // Only conversations that somebody has written to have tasks of their own.
    if (conversation !== undefined && this.schedules.tasks.isEmpty() && this.#tasks().length > 0) {
      const located = await root().locateTarget({ conversation });
      if (located.kind === "refused") return;
    }
    this.schedules.tasks.reconcile();
    this.chat.sweep();
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** Resolves when the tasks are known. */
  async ready(): Promise<void> {
    await this.start();
  }

  /** Reconciles at the start of the object. A mistake in the declaration is logged, and the bot answers as before. */
  start(): Promise<void> {
    this.#starting ??= this.reconcile().catch((error: unknown) => {
      logBotFailure(this.#options.log, "getScheduledTasks", error);
    });
    return this.#starting;
  }

  /** The actions with which the model makes schedules, if the bot has switched them on. */
  actions(): ThinkActions {
    const { agent, deps } = this.#options;
    if (agent.chatSchedules === false) return {};
    return scheduleActions({
      chat: () => this.chat,
      // A schedule makes no schedules: the data that it reads may say anything.
      address: () => (isOfSchedule(getTurn()) ? undefined : getTurn()?.answerTo[0]),
      now: () => deps.clock.now(),
    });
  }

  /** `/schedules`, if the bot has switched it on. */
  commands(): ThinkCommands {
    if (this.#options.agent.chatSchedules === false) return {};
    return {
      schedules: {
        description: localText(this.#options.agent.texts ?? {}, "schedulesCommand"),
        handler: async ({ event }) => {
          await this.ready();
          return this.chat.listCard(event.author);
        },
      },
    };
  }

  list(filter?: OccurrenceFilter): OccurrenceRecord[] {
    return this.schedules.list(filter);
  }

  /** The tasks of this object, declared ones and those made in its chats. */
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

  #say(language: string | undefined): Say {
    return sayIn(this.#options.agent.texts ?? {}, language);
  }

  #tasks(): CheckedTask[] {
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
    const { agent, conversation } = this.#options;
    const scope = conversation === undefined ? "root" : "conversation";
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
