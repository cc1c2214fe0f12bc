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
  /** Throws for a messenger that is not declared. */
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition;
  readonly isDeclared: (messengerId: string) => boolean;
  /** Whether the bot writes down what is said in audio files. @default never */
  readonly transcribes?: () => boolean;
}

/**
 * Takes queued messages into turns, one turn at a time (I3), and a turn's text into its reply. Every step begins with
 * a row and can be repeated: after a crash `advance` finds each turn where it was left.
 */
export class TurnRunner {
  readonly replies: TurnReplies;
  readonly endings: TurnEndings;
  readonly #options: TurnRunnerOptions;
  /** Turns whose operation this object has begun or taken up since it was started. */
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

  /** After a start: what is stored of running turns is known before the first new token of theirs arrives. */
  async resume(): Promise<void> {
    this.endings.dropUndeclared();
    for (const turn of this.#options.turns.unfinished()) {
      if (turn.state === "open")
        await this.#options.engine.follow(turn.id, turn.session, this.replies.sinkOf(turn));
    }
  }

  /** Does everything that can be done now. Returns when it must be called again at the latest, if ever. */
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
        // The process may have died before the turn that this one replaces had ended.
        await this.#endReplaced(turn);
        await this.#options.engine.abort(turn.id, turn.session);
        if (turn.state === "yielding")
          this.#finishYielded(turn, await this.#options.engine.outcome(turn.id, turn.session));
        else turns.setState(turn.id, "ended");
        continue;
      }
      if (turn.replaces !== undefined && !this.#begun.has(turn.id)) {
        // Before anything else, because this turn may be replaced in its turn.
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

  /** Whether a turn is at work. */
  isBusy(): boolean {
    return this.#options.turns.unfinished().length > 0;
  }

  /**
   * Whether the model goes on: not when the turn is being ended, nor when the person said more and the messenger wants
   * the model to hear it now. Knows only of messages that have been read.
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

  /** Before a tool runs: see `ToolGate`. A message that interrupts the turn may have been read a moment ago. */
  beforeTool(turnId: string, isReadOnly: boolean): Promise<"run" | "block"> {
    const turn = this.#options.turns.get(turnId);
    if (turn?.state === "open" && !this.#isContinued(turn)) this.#interrupt(turn);
    return this.#toolGate.pass(turnId, isReadOnly);
  }

  /** The model of a turn cannot answer now, for so long that the person should hear of it. */
  tellWaiting(turnId: string): void {
    const turn = this.#options.turns.get(turnId);
    if (turn?.state === "open") this.replies.tellWaiting(turn);
  }

  /** The turn waits for its model no more. */
  endWaiting(turnId: string): void {
    this.replies.endWaiting(turnId);
  }

  /** Whether the edit is of a message of the newest turn, and the messenger wants such answered anew. */
  mayRerun(edit: MessengerEvent): boolean {
    return this.#rerunnable(edit) !== undefined;
  }

  /** Answers the messages of the newest turn anew, because one of them was edited. `false` when that is not wanted. */
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

  /** Keeps an edit that has nothing answered anew, such as while the answer is being stopped, for the next that does. */
  keepEdit(edit: MessengerEvent): void {
    const found = this.#edited(edit);
    if (found !== undefined) this.#options.inbox.correct(found.row.seq, correctedEvent(found.row, edit));
  }

  #rerunnable(edit: MessengerEvent): { readonly turn: Turn; readonly row: InboxRow } | undefined {
    const found = this.#edited(edit);
    return found?.turn.state === "open" || found?.turn.state === "ended" ? found : undefined;
  }

  /** The newest turn with its message that is edited, where the messenger has such answered anew. */
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

  /** When a message may be whole that could change the running turn. */
  #heldUntil(turn: Turn): number | undefined {
    const now = this.#options.deps.clock.now();
    const held = this.#queuedFor(turn).filter((row) => row.readyAt > now);
    return held.length === 0 ? undefined : Math.min(...held.map(({ readyAt }) => readyAt));
  }

  /** Until when more of what a turn answers may come. What has come already has the turn begun anew when it is whole. */
  #burstEnd(turn: Turn): number {
    const { burstMs } = this.#options.definition(turn.address.messengerId);
    const [next] = this.#queuedFor(turn);
    const lastAt =
      next !== undefined && this.#continues(turn, next)
        ? Math.max(turn.lastReceivedAt, next.receivedAt, next.readyAt)
        : turn.lastReceivedAt;
    return lastAt + burstMs;
  }

  /** A message that follows at once makes the running turn void: it is begun again with all of them. */
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

  /** Where a messenger wants that, a new message ends the running reply, which stays as far as it came. */
  #interrupt(turn: Turn): boolean {
    if (this.#options.definition(turn.address.messengerId).whenBusy !== "interrupt") return false;
    return this.#hasNews(turn) && this.endings.stop();
  }

  /** Whether a message waits in the turn's thread that says something new. After an outage people wait in a queue. */
  #hasNews(turn: Turn): boolean {
    const definition = this.#options.definition(turn.address.messengerId);
    const now = this.#options.deps.clock.now();
    return this.#queuedFor(turn).some((row) => row.readyAt <= now && !isStale(row, definition, now));
  }

  /** Whether the next message is a part of what the turn answers, which is begun again with it. */
  #isContinued(turn: Turn): boolean {
    return this.#continues(turn, this.#queuedFor(turn)[0]);
  }

  /** The messages that wait in the turn's thread, in order of arrival; a conversation may have several threads. */
  #queuedFor(turn: Turn): InboxRow[] {
    return this.#options.inbox.inState("queued").filter((row) => isForThread(row, turn));
  }

  /** Whether a message belongs to what a turn answers: nothing has been done yet, and it came in the same breath. */
  #continues(turn: Turn, row: InboxRow | undefined): boolean {
    if (row === undefined || turn.acted || (turn.state !== "open" && turn.state !== "ended")) return false;
    // Who replies to what the bot has said has read it, and wants it to stay.
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
      replaces: replaced === undefined ? undefined : this.#lastOpened(replaced),
    };
    database.transaction(() => {
      if (replaced !== undefined) {
        this.#toolGate.release(replaced.id);
        this.#begun.delete(replaced.id);
        turns.setState(replaced.id, "withdrawn");
        this.replies.withdraw(replaced);
      }
      inbox.take(rows.map((row) => row.seq));
      turns.insert(turn);
    });
    if (replaced?.state === "open") this.#turnLog.ended(replaced, "replaced");
    this.#turnLog.begun(turn);
  }

  /** The turn whose messages are taken over: one that was replaced before its reply began has none. */
  #lastOpened({ id, replaces }: Turn): string {
    return replaces !== undefined && this.#options.delivery.receipt(id) === undefined ? replaces : id;
  }

  /** Ends the turn that this one replaces, and makes its visible messages this one's. */
  async #takePlace(turn: Turn): Promise<void> {
    this.replies.open(turn);
    const ended = await this.#endReplaced(turn);
    if (ended !== undefined) await this.#options.engine.forget(ended, turn.session);
  }

  /**
   * Ends the operation of the turn that this one replaces. When that turn had none yet, the one that it replaced in its
   * turn may still be at work. Returns the one that was begun, if any was.
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

  /** The reply of a turn that made way for a later message: what it said stays, without any mark. */
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

/** Whether a turn answers the thread of a message. */
function isForThread({ incoming, messengerId }: InboxRow, { address }: Turn): boolean {
  return messengerId === address.messengerId && incoming.thread.id === address.threadId;
}
