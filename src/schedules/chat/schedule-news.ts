import type { PlacedTarget } from "../../core/broadcast.ts";
import type { Say } from "../../core/bot-texts.ts";
import type { CardContent } from "../../core/content.ts";
import type { Clock } from "../../core/deps.ts";
import { errorCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { isSameThread } from "../../core/same-thread.ts";
import type { Address } from "../../core/surface.ts";
import { newsCard, skippedCard } from "./chat-cards.ts";
import { ownerCard } from "./owner-card.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, OwnerNews } from "../rules/occurrence.ts";
import type { OwnerTold, Schedules } from "../runs/schedules.ts";
import { chatQuietUntil } from "../../scheduled-runs/chat-quiet-hours.ts";
import type { ChatQuietHoursHost } from "../../scheduled-runs/chat-quiet-hours.ts";
import type { ChatSchedules } from "./chat-schedules.ts";

export interface ScheduleNewsOptions {
  readonly agent: ChatQuietHoursHost["agent"];
  readonly clock: Clock;
  readonly log: Log;
  /** Schedules that people have made here. */
  readonly chat: Pick<ChatSchedules, "get" | "shown">;
  readonly schedules: Pick<Schedules, "skippedAt">;
  /** Finds the chat of a task's owner. Undefined if the task has none. */
  readonly ownerOf: (task: CheckedTask) => Promise<PlacedTarget | undefined>;
  readonly say: (language: string | undefined) => Say;
  /** Posts a card once. */
  readonly post: (id: string, address: Address, content: CardContent) => void;
}

/** The cards of declared tasks, whose buttons are for their owners. */
export const OWNER_CARD = "schedule:";
const MADE = "made-schedule:";

type FoundOwner = Extract<PlacedTarget, { kind: "found" }>;

/**
 * Tells the chat of a task's owner how the task fares. If the owner is a person who has made the schedule in a chat, the
 * whole chat sees the news, so they name no reason.
 */
export class ScheduleNews {
  readonly #options: ScheduleNewsOptions;

  constructor(options: ScheduleNewsOptions) {
    this.#options = options;
  }

  /** Posts the news once. Never throws because a chat cannot be written to. */
  async tell(task: CheckedTask, occurrence: Occurrence, news: OwnerNews): Promise<OwnerTold> {
    const { log, ownerOf } = this.#options;
    const located = await ownerOf(task);
    if (located === undefined) return { kind: "not-told" };
    if (located.kind === "refused") {
      log.warn("schedule.owner-not-told", { task: task.id, code: located.code });
      return { kind: "not-told" };
    }
    // Nobody waits for this one at a certain time.
    const quietUntil = news === "too-late" ? await chatQuietUntil(this.#options, located.address) : undefined;
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
    const { chat, post, say } = this.#options;
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
      const card = newsCard(chat.shown(made), news, scheduledFor, say(made.madeBy.language));
      post(`${MADE}${news}:${key}`, address, card);
    } else {
      const card = ownerCard(task, occurrence, news, address, say(language));
      post(`${OWNER_CARD}${news}:${key}`, address, card);
    }
  }

  /** Tells the chat of a schedule which of its schedules were skipped. Undefined if nobody has made it. */
  #skippedCard(id: string, skippedAt: number): CardContent | undefined {
    const { chat, say, schedules } = this.#options;
    const asked = chat.get(id);
    if (asked === undefined) return undefined;
    const shown = schedules.skippedAt(skippedAt).flatMap(({ scheduledFor, taskId }) => {
      const schedule = chat.get(taskId);
      if (schedule === undefined || !isSameThread(schedule.address, asked.address)) return [];
      return [{ ...chat.shown(schedule), dueAt: scheduledFor }];
    });
    return skippedCard(shown, say(asked.madeBy.language));
  }
}
