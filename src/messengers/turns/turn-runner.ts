import type { UIMessage } from "ai";
import type { Database } from "../../core/database.ts";
import type { Delivery } from "../../core/delivery.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { InboxRow, InboxStore } from "../../inbox/inbox-store.ts";
import { followsInBurst, isStale, nextBatch } from "../../inbox/next-batch.ts";
import type { TurnEngine, TurnOutcome } from "../../turn/turn-engine.ts";
import type { Turn, TurnStore } from "../../turn/turn-store.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { addressOf } from "../replies/address-of.ts";
import { correctedEvent } from "../../inbox/corrected-event.ts";
import type { Answers } from "../replies/answers.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { ToolGate } from "./tool-gate.ts";
import { TurnEndings } from "./turn-endings.ts";
import { TurnLog } from "./turn-log.ts";
import { TurnReplies } from "./turn-replies.ts";
import { userParts } from "./user-message.ts";
import type { EndedTurn } from "./visible-text.ts";

export interface TurnRunnerOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly memory: ThreadMemory;
  readonly delivery: Delivery;
  readonly engine: TurnEngine;
  /** Returns a messenger's definition. Throws if the messenger is not declared. */
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition;
  readonly isDeclared: (messengerId: string) => boolean;
  /** Whether the bot writes down what is said in audio files. @default never */
  readonly transcribes?: () => boolean;
}

/**
 * Turns queued messages into answers: takes them into turns, starts turns at the turn engine, and passes their text to
 * replies. It ends at its neighbours: `Intake` queues messages, the turn engine calls the model and the tools, and the
 * delivery makes texts visible.
 *
 * 1. A thread runs one turn at a time, in order of arrival (I3).
 * 2. A queued message becomes part of one turn that is not withdrawn (I2).
 * 3. Every step begins with a stored row and can be repeated. After a crash `advance` continues each turn where it was.
 * 4. Messages that follow within a burst withdraw the turn, and a new turn answers all of them. Both changes are one
 *    transaction. The new turn takes over the visible messages.
 * 5. A turn is not withdrawn after a tool with an effect has begun.
 * 6. A turn that has begun ends once in the log.
 */
export class TurnRunner implements Answers {
  readonly replies: TurnReplies;
  readonly endings: TurnEndings;
  readonly #options: TurnRunnerOptions;
  /** Turns whose operation this process has begun or resumed. */
  readonly #begun = new Set<string>();
  readonly #toolGate: ToolGate;
  readonly #turnLog: TurnLog;

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
    this.replies = new TurnReplies({ ...options, eventsOf: (turn) => this.eventsOf(turn) });
    this.#toolGate = new ToolGate({
      deps: options.deps,
      turns: options.turns,
      burstEnd: (turn) => this.#burstEnd(turn),
    });
    const { deps, engine, log } = options;
    this.#turnLog = new TurnLog({ clock: deps.clock, log, stats: engine.stats });
    this.endings = new TurnEndings({
      ...options,
      replies: this.replies,
      toolGate: this.#toolGate,
      turnLog: this.#turnLog,
    });
  }

  /** Resumes running turns after a start. Their stored text is loaded before their first new token arrives. */
  async resume(): Promise<void> {
    this.endings.dropUndeclared();
    for (const turn of this.#options.turns.unfinished()) {
      if (turn.state === "open")
        await this.#options.engine.follow(turn.id, turn.session, this.replies.sinkOf(turn));
    }
  }

  /**
   * Does everything that can be done now. Returns the latest time for the next call (epoch milliseconds), if one is
   * needed.
   */
  async advance(): Promise<number | undefined> {
    const { turns } = this.#options;
    this.endings.dropUndeclared();
    for (;;) {
      const [turn] = turns.unfinished();
      if (turn === undefined) {
        const wakeAt = this.#takeNext();
        if (wakeAt === "begun") continue;
        return wakeAt;
      }
      if (turn.state !== "open") {
        // The process may have died before the replaced turn had ended.
        await this.#endReplaced(turn);
        await this.#options.engine.abort(turn.id, turn.session);
        if (turn.state === "yielding")
          this.#finishYielded(turn, await this.#options.engine.outcome(turn.id, turn.session));
        else turns.setState(turn.id, "ended");
        continue;
      }
      if (turn.replaces !== undefined && !this.#begun.has(turn.id)) {
        // This comes first, because this turn may be replaced as well.
        await this.#takePlace(turn);
        if (turns.get(turn.id)?.state !== "open") continue;
      }
      if (this.#supersede(turn) || this.#interrupt(turn)) continue;
      if (!this.#begun.has(turn.id)) {
        await this.#begin(turn);
        continue;
      }
      const outcome = await this.#options.engine.outcome(turn.id, turn.session);
      if (outcome.kind === "open") return this.#heldUntil(turn);
      if (outcome.kind === "unknown") this.#begun.delete(turn.id);
      else this.#finish(turn.id, outcome);
    }
  }

  /** Tells whether a turn is running. */
  isBusy(): boolean {
    return this.#options.turns.unfinished().length > 0;
  }

  /**
   * Tells whether the model goes on to its next step. `yield` if the turn is being ended, or if the person wrote more
   * and the messenger steers. Only knows messages that have been read.
   */
  beforeStep(turnId: string): "go" | "yield" {
    const { turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn === undefined) return "go";
    if (turn.state !== "open" || (!this.#isContinued(turn) && this.#interrupt(turn))) return "yield";
    if (this.#options.definition(turn.address.messengerId).whenBusy !== "steer") return "go";
    if (!this.#hasNews(turn)) return "go";
    turns.setState(turn.id, "yielding");
    return "yield";
  }

  /** Called before a tool runs: see `ToolGate`. A message that was just read may interrupt the turn. */
  beforeTool(turnId: string, isReadOnly: boolean): Promise<"run" | "block"> {
    const turn = this.#options.turns.get(turnId);
    if (turn?.state === "open" && !this.#isContinued(turn)) this.#interrupt(turn);
    return this.#toolGate.pass(turnId, isReadOnly);
  }

  /** Tells the person that the turn is waiting for its model. */
  tellWaiting(turnId: string): void {
    const turn = this.#options.turns.get(turnId);
    if (turn?.state === "open") this.replies.tellWaiting(turn);
  }

  /** Notes that the turn no longer waits for its model. */
  endWaiting(turnId: string): void {
    this.replies.endWaiting(turnId);
  }

  stopDraft(press: MessengerEvent): boolean {
    return this.endings.stopDraft(press);
  }

  /** Tells whether the edit belongs to the newest turn, and the messenger re-answers edits (`rerunOnEdit`). */
  mayRerun(edit: MessengerEvent): boolean {
    return this.#rerunnable(edit) !== undefined;
  }

  /** Restarts the newest turn, because one of its messages was edited. Returns false if that is not wanted. */
  rerun(edit: MessengerEvent): boolean {
    const found = this.#rerunnable(edit);
    if (found === undefined) return false;
    const { inbox } = this.#options;
    this.#options.database.transaction(() => {
      inbox.correct(found.row.seq, correctedEvent(found.row, edit));
      this.#insert([], found.turn);
    });
    return true;
  }

  /** Stores an edit that does not restart the turn, so that a later restart sees it. */
  keepEdit(edit: MessengerEvent): void {
    const found = this.#edited(edit);
    if (found !== undefined) this.#options.inbox.correct(found.row.seq, correctedEvent(found.row, edit));
  }

  #rerunnable(edit: MessengerEvent): { readonly turn: Turn; readonly row: InboxRow } | undefined {
    const found = this.#edited(edit);
    return found?.turn.state === "open" || found?.turn.state === "ended" ? found : undefined;
  }

  /** Returns the newest turn and its edited message, if this messenger re-answers edits (`rerunOnEdit`). */
  #edited(edit: MessengerEvent): { readonly turn: Turn; readonly row: InboxRow } | undefined {
    const { inbox, memory, turns } = this.#options;
    const turn = turns.newest();
    if (turn === undefined || turn.acted) return undefined;
    if (!this.#options.definition(edit.messengerId).rerunOnEdit || turn.session !== memory.session())
      return undefined;
    const row = inbox
      .rows(turn.messageSeqs)
      .find(
        (candidate) =>
          isForThread(candidate, turn) &&
          candidate.event?.message?.id === edit.message?.id &&
          candidate.event?.thread.formerChatId === edit.thread.formerChatId,
      );
    return row === undefined || edit.thread.chatId !== turn.address.chatId ? undefined : { turn, row };
  }

  #takeNext(): number | "begun" | undefined {
    const { deps, inbox } = this.#options;
    const queued = inbox.inState("queued");
    const next = nextBatch(queued, (id) => this.#options.definition(id), deps.clock.now());
    switch (next.kind) {
      case "none":
        return undefined;
      case "wait":
        return next.until;
      case "batch": {
        const before = this.#options.turns.newest();
        const continues = before !== undefined && this.#continues(before, next.rows[0]);
        this.#insert(next.rows, continues ? before : undefined);
        return "begun";
      }
    }
  }

  /** Returns when a held message that could change the running turn may be complete. */
  #heldUntil(turn: Turn): number | undefined {
    const now = this.#options.deps.clock.now();
    const held = this.#queuedFor(turn).filter((row) => row.readyAt > now);
    return held.length === 0 ? undefined : Math.min(...held.map(({ readyAt }) => readyAt));
  }

  /** Returns when the current burst ends. Messages that are already queued restart the turn once they are complete. */
  #burstEnd(turn: Turn): number {
    const { burstMs } = this.#options.definition(turn.address.messengerId);
    const [next] = this.#queuedFor(turn);
    const lastAt =
      next !== undefined && this.#continues(turn, next)
        ? Math.max(turn.lastReceivedAt, next.receivedAt, next.readyAt)
        : turn.lastReceivedAt;
    return lastAt + burstMs;
  }

  /** Restarts the running turn with the messages that follow it within the burst. */
  #supersede(turn: Turn): boolean {
    const { deps } = this.#options;
    const queued = this.#queuedFor(turn);
    const [first] = queued;
    if (first === undefined || first.readyAt > deps.clock.now() || !this.#continues(turn, first))
      return false;
    const next = nextBatch(queued, (id) => this.#options.definition(id), deps.clock.now());
    if (next.kind !== "batch") return false;
    this.#insert(next.rows, turn);
    return true;
  }

  /** Ends the running reply for a new message, if the messenger has `whenBusy: "interrupt"`. The visible part stays. */
  #interrupt(turn: Turn): boolean {
    if (this.#options.definition(turn.address.messengerId).whenBusy !== "interrupt") return false;
    return this.#hasNews(turn) && this.endings.stopRunning();
  }

  /**
   * Tells whether a new message waits in the turn's thread. Messages from before an outage do not count; they wait in a
   * queue.
   */
  #hasNews(turn: Turn): boolean {
    const definition = this.#options.definition(turn.address.messengerId);
    const now = this.#options.deps.clock.now();
    return this.#queuedFor(turn).some((row) => row.readyAt <= now && !isStale(row, definition, now));
  }

  /** Tells whether the next message continues the turn's messages, so that the turn restarts with it. */
  #isContinued(turn: Turn): boolean {
    return this.#continues(turn, this.#queuedFor(turn)[0]);
  }

  /** Returns the queued messages of the turn's thread, in order of arrival. A conversation may have several threads. */
  #queuedFor(turn: Turn): InboxRow[] {
    return this.#options.inbox.inState("queued").filter((row) => isForThread(row, turn));
  }

  /**
   * Tells whether a message continues the turn's messages: it follows within the burst, and no tool with an effect has
   * begun.
   */
  #continues(turn: Turn, row: InboxRow | undefined): boolean {
    if (row === undefined || turn.acted || (turn.state !== "open" && turn.state !== "ended")) return false;
    // A person who replies to the bot's answer has read it, and wants it to stay.
    if (row.event?.message?.quoted?.isFromBot === true) return false;
    const last = this.#options.inbox.rows(turn.messageSeqs).at(-1);
    if (last === undefined || turn.session !== this.#options.memory.session()) return false;
    return followsInBurst(last, row, this.#options.definition(row.messengerId).burstMs);
  }

  #insert(rows: readonly InboxRow[], replaced: Turn | undefined): void {
    const { database, deps, inbox, memory, turns } = this.#options;
    const newest = rows.at(-1) ?? inbox.rows(replaced?.messageSeqs ?? []).at(-1);
    if (newest?.event === undefined) return;
    const { event } = newest;
    const turn = {
      id: deps.newId(),
      session: memory.session(),
      address: addressOf(event),
      context: event,
      lastReceivedAt: newest.receivedAt,
      messageSeqs: [...(replaced?.messageSeqs ?? []), ...rows.map((row) => row.seq)],
      replaces: replaced?.id,
    };
    database.transaction(() => {
      if (replaced !== undefined) {
        this.#toolGate.release(replaced.id);
        this.#begun.delete(replaced.id);
        turns.setState(replaced.id, "withdrawn");
        this.replies.withdraw(replaced);
      }
      inbox.take(rows.map((row) => row.seq));
      const inserted = turns.insert(turn);
      // At once, because a lost post of the withdrawn reply is only searched for while a reply owns it (I6).
      if (replaced !== undefined) this.replies.open(inserted);
    });
    if (replaced?.state === "open") this.#turnLog.ended(replaced, "replaced");
    this.#turnLog.begun(turn);
  }

  /** Ends the turn that this one replaces. Its visible messages have already been taken over. */
  async #takePlace(turn: Turn): Promise<void> {
    const ended = await this.#endReplaced(turn);
    if (ended !== undefined) await this.#options.engine.forget(ended, turn.session);
  }

  /**
   * Ends the operation of the replaced turn. If that turn had none yet, the turn that it replaced may still be running.
   * Returns the turn whose operation had begun, if there is one.
   */
  async #endReplaced(turn: Turn): Promise<string | undefined> {
    const { engine, turns } = this.#options;
    for (let id = turn.replaces; id !== undefined; id = turns.get(id)?.replaces) {
      const { kind } = await engine.outcome(id, turn.session);
      if (kind === "unknown") continue;
      await engine.abort(id, turn.session);
      return id;
    }
    return undefined;
  }

  async #begin(turn: Turn): Promise<void> {
    const { engine, log, transcribes } = this.#options;
    const events = this.eventsOf(turn);
    this.replies.open(turn);
    const question: UIMessage = {
      id: turn.id,
      role: "user",
      parts: userParts(events, (id) => this.#options.definition(id), log, {
        transcribes: transcribes?.() ?? false,
      }),
    };
    await engine.start(turn.id, turn.session, question, this.replies.sinkOf(turn));
    this.#begun.add(turn.id);
  }

  /** What a turn answers, in order of arrival. */
  eventsOf({ messageSeqs }: Turn): MessengerEvent[] {
    return this.#options.inbox.rows(messageSeqs).flatMap(({ event }) => (event === undefined ? [] : [event]));
  }

  #finish(turnId: string, outcome: EndedTurn): void {
    const { database, inbox, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn?.state !== "open") return;
    const characters = database.transaction(() => {
      turns.setState(turn.id, "ended");
      inbox.end(turn.messageSeqs, outcome.kind === "done" ? "answered" : outcome.kind);
      return this.replies.finish(turn, outcome);
    });
    this.#begun.delete(turn.id);
    this.#turnLog.ended(turn, outcome.kind, characters);
  }

  /** Finishes the reply of a turn that made way for a later message. Its text stays, without a mark. */
  #finishYielded(turn: Turn, outcome: TurnOutcome): void {
    const { database, inbox, turns } = this.#options;
    database.transaction(() => {
      this.replies.finishYielded(turn, "text" in outcome ? outcome.text : "");
      turns.setState(turn.id, "ended");
      inbox.end(turn.messageSeqs, "steered");
    });
    this.#turnLog.ended(turn, "steered");
    this.#begun.delete(turn.id);
  }
}

/** Tells whether a turn answers the thread of a message. */
function isForThread({ incoming, messengerId }: InboxRow, { address }: Turn): boolean {
  return messengerId === address.messengerId && incoming.thread.id === address.threadId;
}
