import type { GonePlace } from "../../core/chat/delivery.ts";
import { draftIdOf } from "../../../delivery/index.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { PromptTurn, Turn } from "../../turn/turn-store.ts";
import type { ReplyTarget } from "./reply-start.ts";
import type { ToolGate } from "./tool-gate.ts";
import type { TurnReplies } from "./turn-replies.ts";
import type { TurnParts } from "./turn-parts.ts";

interface TurnEndingsParts extends TurnParts {
  readonly replies: TurnReplies;
  readonly toolGate: ToolGate;
}

/** Of a reason that bot code gives for the end of a prompt. */
const MOST_REASON_CHARACTERS = 1_000;

/** Ends answers that nobody wants any more, or nobody will see. */
export class TurnEndings {
  readonly #options: TurnEndingsParts;
  #hasDropped = false;

  constructor(options: TurnEndingsParts) {
    this.#options = options;
  }

  /**
   * Stops the running answer for the person. The visible text stays, with a mark. Returns `false` if no answer is
   * running.
   *
   * The answer to a prompt ends only in threads that show it, because nobody can mean an answer that they do not see. A
   * waiting prompt is never dropped.
   */
  stopRunning(by?: Pick<MessengerEvent, "messengerId" | "thread">): boolean {
    const turn = this.#open();
    if (turn === undefined) return false;
    if (turn.kind !== "messages") {
      const { replies } = this.#options;
      return (
        by !== undefined &&
        this.#stopPrompt(turn, ({ address, replyId }) => isOf(address, by) && replies.isSeen(replyId))
      );
    }
    if (by !== undefined && !isOf(turn.address, by)) return false;
    const { database, engine, inbox, turns } = this.#options;
    this.#options.toolGate.release(turn.id);
    database.transaction(() => {
      turns.setState(turn.id, "stopping");
      this.#options.responses.due(turn.id, "aborted");
      this.#options.replies.finishStopped(turn, engine.textSoFar(turn.id));
      inbox.end(turn.messageSeqs, "stopped");
    });
    this.#options.engine.events.ended(turn, "stopped");
    return true;
  }

  #stopPrompt(turn: PromptTurn, isMeant: (target: ReplyTarget) => boolean): boolean {
    const { database, engine, prompts, replies, toolGate, turns } = this.#options;
    const stopped = database.transaction(() => {
      const what = replies.stopSome(turn, isMeant, engine.textSoFar(turn.id));
      if (what !== "ended") return what;
      turns.setState(turn.id, "stopping");
      this.#options.responses.due(turn.id, "aborted");
      prompts.end(turn.id, "aborted");
      return what;
    });
    if (stopped !== "ended") return stopped === "goes-on";
    toolGate.release(turn.id);
    engine.events.ended(turn, "stopped");
    return true;
  }

  /** Ends a prompt for the bot's own code. Returns `false` if it has ended already, or does not exist. */
  cancel(promptId: string, reason?: string): boolean {
    const { database, engine, prompts, replies, toolGate, turns } = this.#options;
    const prompt = prompts.get(promptId);
    const why = reason?.slice(0, MOST_REASON_CHARACTERS);
    if (prompt?.state === "pending") {
      prompts.end(promptId, "aborted", why);
      return true;
    }
    const turn = turns.get(promptId);
    if (prompt?.state !== "running" || turn?.state !== "open") return false;
    database.transaction(() => {
      turns.setState(promptId, "stopping");
      this.#options.responses.due(promptId, "aborted");
      replies.finishStopped(turn, engine.textSoFar(promptId));
      prompts.end(promptId, "aborted", why);
    });
    toolGate.release(promptId);
    engine.events.ended(turn, "stopped");
    return true;
  }

  #open(): Turn | undefined {
    return this.#options.turns.unfinished().find(({ state }) => state === "open");
  }

  /** Does what `stop` does. If no answer is running, drops the messages that wait for one. */
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
    const turn = this.#open();
    if (turn === undefined || stop === undefined) return false;
    const isDraftOf = (address: Address, replyId: string): boolean =>
      address.messengerId === messengerId &&
      address.chatId === thread.chatId &&
      draftIdOf(replyId) === stop.draftId;
    if (turn.kind !== "messages")
      return this.#stopPrompt(turn, ({ address, replyId }) => isDraftOf(address, replyId));
    const ids = [turn.id, turn.replaces].filter((id) => id !== undefined);
    return ids.some((id) => isDraftOf(turn.address, id)) && this.stopRunning();
  }

  /**
   * Ends the running turn and drops the waiting messages of a place where nobody will see an answer. This saves the
   * cost of the model. People read of both when they are back.
   */
  abandon(place: GonePlace): void {
    const { database, engine, inbox, replies, turns } = this.#options;
    for (const turn of turns.unfinished()) {
      // A prompt continues, because its answer may be for other chats or for the conversation alone.
      if (turn.kind !== "messages" || !isAt(place, turn.address) || turn.state !== "open") continue;
      database.transaction(() => {
        turns.setState(turn.id, "stopping");
        replies.finishCut(turn, engine.textSoFar(turn.id));
        inbox.end(turn.messageSeqs, "the chat is gone");
      });
      this.#options.toolGate.release(turn.id);
      this.#options.engine.events.ended(turn, "gone");
    }
    const waiting = inbox.inState("queued").filter(({ messengerId, incoming: { thread } }) => {
      return isAt(place, { messengerId, chatId: thread.chatId, threadId: thread.id });
    });
    for (const rows of Map.groupBy(waiting, ({ incoming }) => incoming.thread.id).values()) {
      const seqs = rows.map(({ seq }) => seq);
      database.transaction(() => {
        replies.tellUnanswered(
          `unanswered:${seqs.join()}`,
          rows.flatMap(({ event }) => event ?? []),
        );
        inbox.end(seqs, "the chat is gone");
      });
    }
  }

  /**
   * Drops the messages of messengers that are no longer declared, so that they do not hold up others in the
   * conversation.
   */
  dropUndeclared(): void {
    if (this.#hasDropped) return;
    this.#hasDropped = true;
    const { database, inbox, log, messengers, turns } = this.#options;
    for (const turn of turns.unfinished()) {
      if (
        turn.kind !== "messages" ||
        messengers.isDeclared(turn.address.messengerId) ||
        turn.state === "stopping"
      )
        continue;
      database.transaction(() => {
        turns.setState(turn.id, "stopping");
        inbox.end(turn.messageSeqs, notDeclared(turn.address.messengerId));
      });
      this.#options.engine.events.ended(turn, "not-declared");
    }
    for (const { incoming, messengerId, seq } of inbox.inState("queued")) {
      if (messengers.isDeclared(messengerId)) continue;
      inbox.end([seq], notDeclared(messengerId));
      log.info("inbox.event", { ...eventFields(messengerId, incoming), outcome: notDeclared(messengerId) });
    }
  }
}

/** Tells whether an address belongs to the thread of an event. */
function isOf(
  { messengerId, threadId }: Pick<Address, "messengerId" | "threadId">,
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
