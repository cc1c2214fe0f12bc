import { sayTo } from "../../core/text/bot-texts.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { Address } from "../../core/chat/surface.ts";
import { durationInWords } from "../../core/text/time-in-words.ts";
import { reminderCard } from "./chat-cards.ts";
import { sha256 } from "../../core/bytes/sha256.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, Target } from "../rules/occurrence.ts";
import type { DeliverTo } from "../rules/scheduled-task.ts";
import type { FoundTargets, ManyReport, ManyWork, OccurrenceHost } from "../runs/occurrence-host.ts";
import type { LegReport, LegRequest } from "../../scheduled-runs/leg.ts";
import type { TurnNews } from "../../scheduled-runs/nudge-keeper.ts";
import type { Schedules } from "../runs/schedules.ts";
import { scheduleIntroduction, scheduleQuestion } from "./schedule-message.ts";
import { chatQuietUntil } from "../../scheduled-runs/chat-quiet-hours.ts";
import { SCHEDULED_RUNS } from "../../scheduled-runs/scheduled-turns.ts";
import type { ScheduleParts } from "./schedule-parts.ts";
import { SCHEDULES } from "./schedule-calls.ts";
import type { ManyChats } from "./many-chats.ts";

export interface OccurrenceObjectsOptions extends ScheduleParts {
  readonly many: ManyChats;
}

/** Beginning of the name of a task's own object. */
export const TASK = "task:";
const DAY_MS = 24 * 3_600_000;
/** Steps that never come would leave states behind. */
const MOST_TOLD = 100;
/** Below this a reminder does not mention that it is late. */
const LATE_FROM_MS = 10 * 60_000;

/** The calls that the steps of an occurrence make: to conversations, to chats, and to broadcasts. */
export class OccurrenceObjects implements OccurrenceHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly name: string;
  readonly promptOf = scheduleQuestion;
  readonly introductionOf = scheduleIntroduction;
  readonly #options: OccurrenceObjectsOptions;
  /** States of turns that have told them, until a step uses them. */
  readonly #told = new Map<string, LegReport>();

  constructor(options: OccurrenceObjectsOptions) {
    this.#options = options;
    this.clock = options.host.deps.clock;
    this.log = options.log;
    this.name = options.host.name();
  }

  runsIn(taskId: string): string {
    const { objects } = this.#options.host;
    return objects.isRoot() ? `${TASK}${taskId}` : objects.address();
  }

  find(deliverTo: DeliverTo | undefined): Promise<FoundTargets> {
    return this.#options.targets.find(deliverTo);
  }

  submit(conversation: string, request: LegRequest): Promise<void> {
    return this.#options.host.objects.to(SCHEDULED_RUNS, conversation).submit(request);
  }

  async report(conversation: string, submissionId: string): Promise<LegReport> {
    const told = this.#told.get(submissionId);
    this.#told.delete(submissionId);
    return told ?? this.#options.host.objects.to(SCHEDULED_RUNS, conversation).report(submissionId);
  }

  /** A turn has told how it stands. The next step need not ask. */
  told({ id, report }: TurnNews): void {
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.set(id, report);
  }

  quietUntil(address: Address): Promise<number | undefined> {
    const { clock, log } = this;
    return chatQuietUntil({ agent: this.#options.host.agent, clock, log }, address);
  }

  replaceQuiet(newer: Occurrence, address: Address): void {
    this.#options.schedules.replaceQuiet(newer, address);
  }

  async runOf(task: CheckedTask, { key }: Occurrence): Promise<ScheduledRun> {
    const { host, targets } = this.#options;
    const schedule = { keeper: host.objects.address(), taskId: task.id, revision: await revisionOf(task) };
    const owner = await targets.ownerOf(task);
    const { requester } = task;
    const askIn = owner?.kind === "found" ? owner.address : undefined;
    return {
      schedule,
      occurrenceKey: key,
      ...(requester !== undefined && { requester }),
      ...(askIn !== undefined && { askIn, ...(task.asksOwner === true && { asksOwner: true }) }),
    };
  }

  remind(id: string, task: CheckedTask, { key, lateMs }: Occurrence): void {
    const { work } = task;
    if (work.kind !== "reminder") return;
    const { chat, host } = this.#options;
    const isRecurring = task.rule.kind !== "once";
    const say = sayTo(host.agent, chat.get(task.id)?.madeBy);
    const isLate = lateMs >= LATE_FROM_MS ? durationInWords(lateMs, say) : undefined;
    const card = reminderCard(task.id, work.text, key, { isLate, isRecurring }, say);
    host.thread.postCard(id, work.address, card, SCHEDULES.name);
  }

  reportCard(id: string): LegReport {
    return this.#options.host.runs.reportCard(id);
  }

  usedToday(taskId: string): ReturnType<Schedules["usedSince"]> {
    return this.#options.schedules.usedSince(taskId, this.clock.now() - DAY_MS);
  }

  broadcast(id: string, work: ManyWork, to: DeliverTo | readonly Target[] | undefined): Promise<void> {
    return this.#options.many.begin(id, work, to);
  }

  reportBroadcast(id: string, isListed: boolean): Promise<ManyReport> {
    return this.#options.many.report(id, isListed);
  }

  save(occurrence: Occurrence): void {
    this.#options.schedules.save(occurrence);
  }
}

/** Returns the revision of a task: another one whenever anything about it changes that people may have agreed to. */
async function revisionOf({ metadata, rule, work, zone }: CheckedTask): Promise<string> {
  const { kind } = work;
  const told =
    kind === "prompt"
      ? [work.prompt, work.fanOut, typeof work.deliverTo === "function" ? "function" : work.deliverTo]
      : [];
  const hash = await sha256(JSON.stringify([kind, rule, zone, metadata, told]));
  return hash.slice(0, 16);
}
