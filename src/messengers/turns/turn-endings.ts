import type { Database } from "../../core/database.ts";
import type { GonePlace } from "../../core/delivery.ts";
import { draftIdOf } from "../../core/draft-id.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import type { Turn, TurnStore } from "../../turn/turn-store.ts";
import type { ToolGate } from "./tool-gate.ts";
import type { TurnLog } from "./turn-log.ts";
import type { TurnReplies } from "./turn-replies.ts";

export interface TurnEndingsOptions {
  readonly database: Database;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly engine: TurnEngine;
  readonly replies: TurnReplies;
  readonly toolGate: ToolGate;
  readonly turnLog: TurnLog;
  readonly isDeclared: (messengerId: string) => boolean;
}

/** Ends answers that nobody wants any more, or nobody will see. */
export class TurnEndings {
  readonly #options: TurnEndingsOptions;
  #hasDropped = false;

  constructor(options: TurnEndingsOptions) {
    this.#options = options;
  }

  /** Stops the running answer. Its visible part stays, with a mark. Returns false if no answer is running. */
  stopRunning(by?: Pick<MessengerEvent, "messengerId" | "thread">): boolean {
    const { database, engine, inbox, turns } = this.#options;
    const turn = turns.unfinished().find((candidate) => candidate.state === "open");
    if (turn === undefined || (by !== undefined && !isOf(turn.address, by))) return false;
    this.#options.toolGate.release(turn.id);
    database.transaction(() => {
      turns.setState(turn.id, "stopping");
      this.#options.replies.finishStopped(turn, engine.textSoFar(turn.id));
      inbox.end(turn.messageSeqs, "stopped");
    });
    this.#options.turnLog.ended(turn, "stopped");
    return true;
  }

  /** Stops the running answer. If none is running, drops the messages that wait for one. */
  stopAll(by: Pick<MessengerEvent, "messengerId" | "thread">): boolean {
    if (this.stopRunning(by)) return true;
    const { database, inbox, log } = this.#options;
    const waiting = inbox
      .inState("queued")
      .filter(({ messengerId, incoming }) => isOf({ messengerId, threadId: incoming.thread.id }, by));
    const event = waiting.at(-1)?.event;
    if (event === undefined) return false;
    database.transaction(() => {
      this.#options.replies.tellStopped(`stopped:${waiting.map(({ seq }) => seq).join()}`, event);
      inbox.end(
        waiting.map(({ seq }) => seq),
        "stopped",
      );
    });
    for (const { incoming, messengerId } of waiting)
      log.info("inbox.event", { ...eventFields(messengerId, incoming), outcome: "stopped" });
    return true;
  }

  /**
   * Stops an answer by the platform's own button. The button belongs to one answer, or to the one that this answer has
   * replaced.
   */
  stopDraft({ messengerId, thread, stop }: MessengerEvent): boolean {
    const turn = this.#options.turns.unfinished().find((candidate) => candidate.state === "open");
    if (turn === undefined || stop === undefined) return false;
    const isItsChat = turn.address.messengerId === messengerId && turn.address.chatId === thread.chatId;
    const drafts = [turn.id, turn.replaces].flatMap((id) => (id === undefined ? [] : draftIdOf(id)));
    return isItsChat && drafts.includes(stop.draftId) && this.stopRunning();
  }

  /**
   * Ends the running turn and drops the waiting messages of a place where nobody will see an answer. This saves the
   * cost of the model.
   */
  abandon(place: GonePlace): void {
    const { database, inbox, turns } = this.#options;
    for (const turn of turns.unfinished()) {
      if (!isAt(place, turn.address) || turn.state !== "open") continue;
      database.transaction(() => {
        turns.setState(turn.id, "stopping");
        inbox.end(turn.messageSeqs, "the chat is gone");
      });
      this.#options.toolGate.release(turn.id);
      this.#options.turnLog.ended(turn, "gone");
    }
    const waiting = inbox.inState("queued").filter(({ messengerId, incoming: { thread } }) => {
      return isAt(place, { messengerId, chatId: thread.chatId, threadId: thread.id });
    });
    inbox.end(
      waiting.map((row) => row.seq),
      "the chat is gone",
    );
  }

  /**
   * Drops the messages of messengers that are no longer declared, so that they do not hold up others in the
   * conversation.
   */
  dropUndeclared(): void {
    if (this.#hasDropped) return;
    this.#hasDropped = true;
    const { database, inbox, isDeclared, log, turns } = this.#options;
    for (const turn of turns.unfinished()) {
      if (isDeclared(turn.address.messengerId) || turn.state === "stopping") continue;
      database.transaction(() => {
        turns.setState(turn.id, "stopping");
        inbox.end(turn.messageSeqs, notDeclared(turn.address.messengerId));
      });
      this.#options.turnLog.ended(turn, "not-declared");
    }
    for (const { incoming, messengerId, seq } of inbox.inState("queued")) {
      if (isDeclared(messengerId)) continue;
      inbox.end([seq], notDeclared(messengerId));
      log.info("inbox.event", { ...eventFields(messengerId, incoming), outcome: notDeclared(messengerId) });
    }
  }
}

/** Tells whether an address belongs to the thread of an event. */
function isOf(
  { messengerId, threadId }: Pick<Turn["address"], "messengerId" | "threadId">,
  by: Pick<MessengerEvent, "messengerId" | "thread">,
): boolean {
  return messengerId === by.messengerId && threadId === by.thread.id;
}

function isAt(place: GonePlace, at: Required<GonePlace>): boolean {
  if (place.messengerId !== at.messengerId || place.chatId !== at.chatId) return false;
  return place.threadId === undefined || place.threadId === at.threadId;
}

function notDeclared(messengerId: string): string {
  return `the messenger "${messengerId}" is not declared any more`;
}
