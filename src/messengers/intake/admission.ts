import { BOT_CODE_LIMIT_MS, runBotCode } from "../../core/time/bot-code.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { ReadyContent } from "../replies/cards.ts";
import { mayStaySilent } from "../replies/reply-filter.ts";
import { postingOf, sendNotice } from "../replies/send-notice.ts";
import { safeText } from "../declare/texts.ts";
import type { SafeText } from "../../core/chat/messenger-options.ts";
import { personOf } from "../root/turn-limits.ts";
import type { EventOutcomes } from "./event-outcomes.ts";
import type { IntakeParts } from "./intake-parts.ts";

/** Decides who may ask the bot, and how much. */
export class Admission {
  readonly #options: IntakeParts;
  readonly #outcomes: EventOutcomes;

  constructor(options: IntakeParts, outcomes: EventOutcomes) {
    this.#options = options;
    this.#outcomes = outcomes;
  }

  async mayUse(event: MessengerEvent, { allow }: NormalizedMessengerDefinition): Promise<boolean> {
    const { author } = event;
    if (allow === undefined || author === undefined) return allow === undefined;
    if (typeof allow !== "function") return allow.some((id) => String(id) === author.userId);
    // With a time limit, because a hanging function would hold up every later event, also `/stop`.
    return withinTime(this.#options.deps.clock, BOT_CODE_LIMIT_MS, allow(author, event), "allow");
  }

  /**
   * Returns whether the person may use the bot. If not, ends the event, and tells the person the first time that they
   * address the bot, and below each slash command: the platform shows there that the bot works.
   */
  async admit(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<boolean> {
    if (await this.mayUse(event, definition)) return true;
    const { memory } = this.#options;
    if (!isAddressed(event)) {
      this.#outcomes.end(row, "ignored: not allowed");
      return false;
    }
    const userId = event.author?.userId;
    const isTold =
      !isSlashCommand(event) && (userId === undefined || memory.wasRefused(event.messengerId, userId));
    const content = isTold ? undefined : await this.#refusalOf(event, definition);
    this.#refuse(row, event, definition, {
      name: "refused",
      text: "refusedResponseText",
      content,
      isFirst: () => userId !== undefined && memory.refuseOnce(event.messengerId, userId),
      outcomes: ["refused: not allowed", "ignored: not allowed"],
    });
    return false;
  }

  /** Returns the bot's own refusal. Undefined if it has none, or it failed. */
  async #refusalOf(
    event: MessengerEvent,
    { refusal }: NormalizedMessengerDefinition,
  ): Promise<ReadyContent | undefined> {
    if (refusal === undefined) return undefined;
    const { cards, deps, log } = this.#options;
    const own = { clock: deps.clock, log: log.with(eventFields(event.messengerId, event)) };
    try {
      return await runBotCode(own, "refusal", async () =>
        cards.prepareOrTell(
          event.messengerId,
          typeof refusal === "function" ? await refusal(event) : refusal,
        ),
      );
    } catch {
      // The log has the reason. The person reads the text.
      return undefined;
    }
  }

  /**
   * Counts a message against the limits, and returns whether it may wait for its answer. If not, ends the event, and
   * tells the person the first time.
   */
  async admitToQueue(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<boolean> {
    const { inbox, memory } = this.#options;
    const isQuiet = mayStaySilent(definition, [event]);
    if (inbox.countQueued() >= definition.inboxLimit) {
      this.#refuse(row, event, definition, {
        name: "full",
        text: "busyResponseText",
        isFirst: () => !isQuiet && memory.reportFullOnce(event.thread.id),
        outcomes: ["refused: the inbox is full", "refused: the inbox is full"],
      });
      return false;
    }
    if (await this.takeFromLimits(row, event, definition)) {
      memory.endFull(event.thread.id);
      return true;
    }
    this.#refuse(row, event, definition, {
      name: "limit",
      text: "limitResponseText",
      isFirst: () => !isQuiet && memory.reportLimitOnce(event.messengerId, personOf(event)),
      outcomes: ["refused: over the limit", "ignored: over the limit"],
    });
    return false;
  }

  /** Counts one more question of the person, and returns true. Returns false if the limits do not allow it. */
  async takeFromLimits(
    row: InboxRow,
    event: MessengerEvent,
    { burstMs, limits }: NormalizedMessengerDefinition,
  ): Promise<boolean> {
    if (limits === undefined) return true;
    const { memory, root } = this.#options;
    const { message, messengerId, thread } = event;
    const userId = personOf(event);
    const isAllowed = await root.takeQuestion({
      messengerId,
      userId,
      threadId: thread.id,
      at: row.receivedAt,
      albumId: message?.albumId,
      burstMs,
      limits,
    });
    if (isAllowed) memory.endLimit(messengerId, userId);
    return isAllowed;
  }

  #refuse(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    refusal: {
      readonly name: string;
      readonly text: SafeText;
      /** Content in place of the text. */
      readonly content?: ReadyContent | undefined;
      readonly isFirst: () => boolean;
      /** Outcome of the first refusal, and of later ones. */
      readonly outcomes: readonly [string, string];
    },
  ): void {
    const { cards, database, delivery, log } = this.#options;
    database.transaction(() => {
      const isFirst = refusal.isFirst() || isSlashCommand(event);
      const id = `${refusal.name}:${row.seq}`;
      if (isFirst && refusal.content !== undefined)
        cards.post({ id, ...postingOf(event, definition) }, refusal.content);
      else if (isFirst) {
        const text = safeText(definition.delivery, refusal.text, event, log);
        sendNotice(delivery, id, event, definition, text);
      }
      this.#outcomes.end(row, refusal.outcomes[isFirst ? 0 : 1]);
    });
  }
}

function isSlashCommand({ message }: MessengerEvent): boolean {
  return message?.isSlashCommand === true;
}

/** Tells whether the event addresses the bot. A person who writes to others in a subscribed thread gets no notice. */
function isAddressed({ kind, message }: MessengerEvent): boolean {
  return kind !== "message" || message?.command !== undefined;
}
