import { sayTo } from "../../core/text/bot-texts.ts";
import type { PlacedTarget } from "../../core/turn/broadcast.ts";
import type { CardContent } from "../../core/message/content.ts";
import { errorCode } from "../../core/base/errors.ts";
import { isSameThread } from "../../feature/same-thread.ts";
import type { Address } from "../../core/chat/surface.ts";
import { newsCard, skippedCard } from "./chat-cards.ts";
import { ownerCard } from "./owner-card.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, OwnerNews } from "../rules/occurrence.ts";
import type { OwnerTold } from "../runs/schedules.ts";
import { chatQuietUntil } from "../../scheduled-runs/chat-quiet-hours.ts";
import type { ScheduleParts } from "./schedule-parts.ts";
import { SCHEDULES } from "./schedule-calls.ts";

/** The cards of declared tasks, whose buttons are for their owners. */
export const OWNER_CARD = "schedule:";
const MADE = "made-schedule:";

type FoundOwner = Extract<PlacedTarget, { kind: "found" }>;

/**
 * Tells the chat of a task's owner how the task fares. If the owner is a person who has made the schedule in a chat, the
 * whole chat sees the news, so they name no reason.
 */
export class ScheduleNews {
  readonly #options: ScheduleParts;

  constructor(options: ScheduleParts) {
    this.#options = options;
  }

  /** Posts the news once. Never throws because a chat cannot be written to. */
  async tell(task: CheckedTask, occurrence: Occurrence, news: OwnerNews): Promise<OwnerTold> {
    const { host, log, targets } = this.#options;
    const located = await targets.ownerOf(task);
    if (located === undefined) return { kind: "not-told" };
    if (located.kind === "refused") {
      log.warn("schedule.owner-not-told", { task: task.id, code: located.code });
      return { kind: "not-told" };
    }
    // Nobody waits for this one at a certain time.
    const quiet = { agent: host.agent, clock: host.deps.clock, log };
    const quietUntil = news === "too-late" ? await chatQuietUntil(quiet, located.address) : undefined;
    if (quietUntil !== undefined) return { kind: "later", at: quietUntil };
    try {
      this.#post(task, occurrence, news, located);
      return { kind: "told" };
    } catch (error) {
      log.warn("schedule.owner-not-told", { task: task.id, code: errorCode(error) ?? "unknown" });
      return { kind: "not-told" };
    }
  }

  #post(task: CheckedTask, occurrence: Occurrence, news: OwnerNews, { address, language }: FoundOwner): void {
    const { chat, host } = this.#options;
    const post = (id: string, to: Address, card: CardContent): void =>
      host.thread.postCard(id, to, card, SCHEDULES.name);
    const { createdAt, endedAt = createdAt, key, scheduledFor } = occurrence;
    if (news === "too-late") {
      // One message tells a chat of all its schedules, so the others find it posted.
      const card = this.#skippedCard(task.id, endedAt);
      if (card !== undefined) post(`${MADE}${news}:${endedAt}:${address.threadId}`, address, card);
      return;
    }
    const made = chat.get(task.id);
    // The buttons of a schedule that somebody has made are for its maker.
    if (made !== undefined) {
      const card = newsCard(chat.shown(made), news, scheduledFor, sayTo(host.agent, made.madeBy));
      post(`${MADE}${news}:${key}`, address, card);
    } else {
      const card = ownerCard(task, occurrence, news, address, sayTo(host.agent, { language }));
      post(`${OWNER_CARD}${news}:${key}`, address, card);
    }
  }

  /** Tells the chat of a schedule which of its schedules were skipped. Undefined if nobody has made it. */
  #skippedCard(id: string, skippedAt: number): CardContent | undefined {
    const { chat, host, schedules } = this.#options;
    const asked = chat.get(id);
    if (asked === undefined) return undefined;
    const shown = schedules.skippedAt(skippedAt).flatMap(({ scheduledFor, taskId }) => {
      const schedule = chat.get(taskId);
      if (schedule === undefined || !isSameThread(schedule.address, asked.address)) return [];
      return [{ ...chat.shown(schedule), dueAt: scheduledFor }];
    });
    return skippedCard(shown, sayTo(host.agent, asked.madeBy));
  }
}
