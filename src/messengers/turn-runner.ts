import type { UIMessage } from "ai";
import type { Database } from "../core/database.ts";
import type { Delivery, DeliveryPolicy, ReplyStart } from "../core/delivery.ts";
import { draftIdOf } from "../core/draft-id.ts";
import { wait } from "../core/deps.ts";
import type { Deps } from "../core/deps.ts";
import type { Log } from "../core/log.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import type { Address } from "../core/surface.ts";
import type { InboxRow, InboxStore } from "../inbox/inbox-store.ts";
import { followsInBurst, nextBatch } from "../inbox/next-batch.ts";
import { joinParagraphs } from "../outgoing/index.ts";
import type { OutgoingText } from "../outgoing/index.ts";
import type { ReplyTextSink } from "../turn/reply-text.ts";
import type { TurnEngine, TurnOutcome } from "../turn/turn-engine.ts";
import type { Turn, TurnStore } from "../turn/turn-store.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";
import { correctedEvent } from "./corrected-event.ts";
import { filteredFragment, replyFilter } from "./reply-filter.ts";
import { replyStartOf } from "./reply-start.ts";
import { safeText } from "./texts.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import { userParts } from "./user-message.ts";
import { visibleText } from "./visible-text.ts";
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
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition;
}

/**
 * Takes queued messages into turns, one turn at a time (I3), and a turn's text into its reply. Every step begins with
 * a row and can be repeated: after a crash `advance` finds each turn where it was left.
 */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  /** Turns whose operation this object has begun or taken up since it was started. */
  readonly #begun = new Set<string>();
  /** What filters the text of each running turn on its way to its reply. */
  readonly #filters = new Map<string, OutgoingText>();
  /** Tools that wait for the end of a burst. */
  readonly #waits = new Map<string, AbortController>();

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
  }

  /** Does everything that can be done now. Returns when it must be called again at the latest, if ever. */
  async advance(): Promise<number | undefined> {
    const { turns } = this.#options;
    for (;;) {
      const [turn] = turns.unfinished();
      if (turn === undefined) {
        const wakeAt = this.#takeNext();
        if (wakeAt === "begun") continue;
        return wakeAt;
      }
      if (turn.state !== "open") {
        // The process may have died before the turn that this one replaces had ended.
        if (turn.replaces !== undefined) await this.#options.engine.abort(turn.replaces, turn.session);
        await this.#options.engine.abort(turn.id, turn.session);
        if (turn.state === "yielding")
          this.#finishYielded(turn, await this.#options.engine.outcome(turn.id, turn.session));
        else turns.setState(turn.id, "ended");
        continue;
      }
      if (turn.replaces !== undefined && !this.#begun.has(turn.id)) {
        // Before anything else, because this turn may be replaced in its turn.
        await this.#takePlace(turn, turn.replaces);
        if (turns.get(turn.id)?.state !== "open") continue;
      }
      if (this.#supersede(turn) || this.#interrupt(turn)) continue;
      if (!this.#begun.has(turn.id)) {
        await this.#begin(turn);
        continue;
      }
      const outcome = await this.#options.engine.outcome(turn.id, turn.session);
      if (outcome.kind === "open") return undefined;
      if (outcome.kind === "unknown") this.#begun.delete(turn.id);
      else this.#finish(turn.id, outcome);
    }
  }

  /** Whether a turn is at work. */
  isBusy(): boolean {
    return this.#options.turns.unfinished().length > 0;
  }

  /** The person wants no more of the running answer: what is visible stays, with a mark. `false` when none runs. */
  stop(by?: Pick<MessengerEvent, "messengerId" | "thread">): boolean {
    const { database, delivery, engine, inbox, turns } = this.#options;
    const turn = turns.unfinished().find((candidate) => candidate.state === "open");
    if (turn === undefined || (by !== undefined && !isIts(turn, by))) return false;
    const mark = safeText(this.#policy(turn.address), "stoppedResponseText", turn.context);
    this.#waits.get(turn.id)?.abort();
    database.transaction(() => {
      turns.setState(turn.id, "stopping");
      delivery.open(this.#replyOf(turn));
      delivery.finish(turn.id, joinParagraphs(this.#fragment(turn, engine.textSoFar(turn.id)), mark));
      inbox.end(turn.messageSeqs, "stopped");
    });
    return true;
  }

  /** The same by the platform's own button, which belongs to one answer, or to the one that this one has replaced. */
  stopDraft({ messengerId, thread, stop }: MessengerEvent): boolean {
    const turn = this.#options.turns.unfinished().find((candidate) => candidate.state === "open");
    if (turn === undefined || stop === undefined) return false;
    const isItsChat = turn.address.messengerId === messengerId && turn.address.chatId === thread.chatId;
    const drafts = [turn.id, turn.replaces].flatMap((id) => (id === undefined ? [] : draftIdOf(id)));
    return isItsChat && drafts.includes(stop.draftId) && this.stop();
  }

  /** Nobody will see the answer any more: neither the running turn for this chat nor what waits is paid for. */
  abandon(chatId: string): void {
    const { database, inbox, turns } = this.#options;
    for (const turn of turns.unfinished()) {
      if (turn.address.chatId !== chatId || turn.state !== "open") continue;
      database.transaction(() => {
        turns.setState(turn.id, "stopping");
        inbox.end(turn.messageSeqs, "the chat is gone");
      });
    }
    const waiting = inbox.inState("queued").filter((row) => row.incoming.thread.chatId === chatId);
    inbox.end(
      waiting.map((row) => row.seq),
      "the chat is gone",
    );
  }

  /** Where the text of a turn goes: through the messenger's filter to the turn's reply. */
  sinkOf(turn: Turn): ReplyTextSink {
    const { delivery, log } = this.#options;
    const filter = replyFilter(
      this.#options.definition(turn.address.messengerId),
      turn.context,
      {
        append: (delta) => delivery.append(turn.id, delta),
        replace: (text) => delivery.replace(turn.id, text),
      },
      log,
    );
    this.#filters.set(turn.id, filter);
    return filter;
  }

  /** Whether the model goes on: not when the person said more and the messenger wants the model to hear it now. */
  beforeStep(turnId: string): "go" | "yield" {
    const { deps, inbox, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn?.state !== "open") return "go";
    if (this.#options.definition(turn.address.messengerId).whenBusy !== "steer") return "go";
    const now = deps.clock.now();
    const isAddressed = inbox.inState("queued").some((row) => isForThread(row, turn) && row.readyAt <= now);
    if (!isAddressed) return "go";
    turns.setState(turn.id, "yielding");
    return "yield";
  }

  /**
   * Before a tool runs. One with an effect does not begin while more of the person's message may come, because then
   * the turn is withdrawn and begun anew.
   */
  async beforeTool(turnId: string, isRepeatable: boolean): Promise<"run" | "block"> {
    const { deps, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn === undefined || isRepeatable) return "run";
    const { burstMs } = this.#options.definition(turn.address.messengerId);
    const delayMs = turn.lastReceivedAt + burstMs - deps.clock.now();
    if (!turn.acted && delayMs > 0) {
      const waiting = new AbortController();
      this.#waits.set(turnId, waiting);
      await wait(deps.clock, delayMs, waiting.signal).catch(() => {
        // Stopped or withdrawn while it waited: the state says so.
      });
      this.#waits.delete(turnId);
    }
    if (turns.get(turnId)?.state !== "open") return "block";
    turns.markActed(turnId);
    return "run";
  }

  /** Answers the messages of the newest turn anew, because one of them was edited. `false` when that is not wanted. */
  rerun(edit: MessengerEvent): boolean {
    const { inbox, memory, turns } = this.#options;
    const turn = turns.newest();
    if (turn === undefined || turn.acted || (turn.state !== "open" && turn.state !== "ended")) return false;
    if (!this.#options.definition(edit.messengerId).rerunOnEdit || turn.session !== memory.session())
      return false;
    const row = inbox
      .rows(turn.messageSeqs)
      .find((candidate) => isForThread(candidate, turn) && candidate.event?.message?.id === edit.message?.id);
    if (row === undefined || edit.thread.chatId !== turn.address.chatId) return false;
    this.#options.database.transaction(() => {
      inbox.correct(row.seq, correctedEvent(row, edit));
      this.#insert([], turn);
    });
    return true;
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

  /** A message that follows at once makes the running turn void: it is begun again with all of them. */
  #supersede(turn: Turn): boolean {
    const { deps, inbox } = this.#options;
    const [first] = inbox.inState("queued");
    if (first === undefined || first.readyAt > deps.clock.now() || !this.#continues(turn, first))
      return false;
    const next = nextBatch(inbox.inState("queued"), (id) => this.#options.definition(id), deps.clock.now());
    if (next.kind !== "batch") return false;
    this.#insert(next.rows, turn);
    return true;
  }

  /** Where a messenger wants that, a new message ends the running reply, which stays as far as it came. */
  #interrupt(turn: Turn): boolean {
    const { deps, inbox } = this.#options;
    if (this.#options.definition(turn.address.messengerId).whenBusy !== "interrupt") return false;
    const now = deps.clock.now();
    return inbox.inState("queued").some((row) => isForThread(row, turn) && row.readyAt <= now) && this.stop();
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
    const { database, delivery, deps, inbox, log, memory, turns } = this.#options;
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
        this.#waits.get(replaced.id)?.abort();
        this.#begun.delete(replaced.id);
        this.#filters.delete(replaced.id);
        turns.setState(replaced.id, "withdrawn");
        delivery.withdraw(replaced.id);
      }
      inbox.take(rows.map((row) => row.seq));
      turns.insert(turn);
    });
    log.info("turn.begun", { turn: turn.id, messages: turn.messageSeqs.length, replaces: turn.replaces });
  }

  /** Ends the turn that this one replaces, and makes its visible messages this one's. */
  async #takePlace(turn: Turn, replaced: string): Promise<void> {
    const { delivery, engine } = this.#options;
    delivery.open(this.#replyOf(turn));
    await engine.abort(replaced, turn.session);
    await engine.forget(replaced, turn.session);
  }

  async #begin(turn: Turn): Promise<void> {
    const { delivery, engine, inbox } = this.#options;
    const events = inbox
      .rows(turn.messageSeqs)
      .flatMap((row) => (row.event === undefined ? [] : [row.event]));
    delivery.open(this.#replyOf(turn));
    const question: UIMessage = {
      id: turn.id,
      role: "user",
      parts: userParts(events, (id) => this.#options.definition(id)),
    };
    await engine.start(turn.id, turn.session, question, this.sinkOf(turn));
    this.#begun.add(turn.id);
  }

  #finish(turnId: string, outcome: EndedTurn): void {
    const { database, delivery, inbox, log, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn?.state !== "open") return;
    const text = this.#finalText(turn, outcome);
    database.transaction(() => {
      delivery.finish(turn.id, text);
      turns.setState(turn.id, "ended");
      inbox.end(turn.messageSeqs, outcome.kind === "done" ? "answered" : outcome.kind);
    });
    this.#begun.delete(turn.id);
    log.info("turn.ended", { turn: turn.id, outcome: outcome.kind, characters: text.length });
  }

  /** What the person reads in the end; empty when the model chose to say nothing. */
  #finalText(turn: Turn, outcome: EndedTurn): string {
    if (!this.#filters.has(turn.id)) this.sinkOf(turn);
    const filter = this.#filters.get(turn.id);
    this.#filters.delete(turn.id);
    const policy = this.#policy(turn.address);
    if (outcome.kind !== "done") {
      return visibleText({ ...outcome, text: this.#fragment(turn, outcome.text) }, policy, turn.context);
    }
    const result = filter?.finish(outcome.text);
    if (result?.kind === "silent") return "";
    return visibleText({ kind: "done", text: result?.text ?? outcome.text }, policy, turn.context);
  }

  #fragment(turn: Turn, text: string): string {
    this.#filters.delete(turn.id);
    return filteredFragment(
      this.#options.definition(turn.address.messengerId),
      turn.context,
      text,
      this.#options.log,
    );
  }

  /** The reply of a turn that made way for a later message: what it said stays, without any mark. */
  #finishYielded(turn: Turn, outcome: TurnOutcome): void {
    const { database, delivery, inbox, turns } = this.#options;
    database.transaction(() => {
      delivery.open(this.#replyOf(turn));
      delivery.finish(turn.id, "text" in outcome ? this.#fragment(turn, outcome.text) : "");
      turns.setState(turn.id, "ended");
      inbox.end(turn.messageSeqs, "steered");
    });
    this.#begun.delete(turn.id);
  }

  #replyOf(turn: Turn): ReplyStart {
    return replyStartOf(turn, this.#policy(turn.address));
  }

  #policy(address: Address): DeliveryPolicy {
    return this.#options.definition(address.messengerId).delivery ?? {};
  }
}

function isForThread({ incoming, messengerId }: InboxRow, turn: Turn): boolean {
  return isIts(turn, { messengerId, thread: incoming.thread });
}

/** Whether a turn answers the thread of an event. */
function isIts(
  { address }: Turn,
  { messengerId, thread }: Pick<MessengerEvent, "messengerId" | "thread">,
): boolean {
  return messengerId === address.messengerId && thread.id === address.threadId;
}

/** Where the answer to an event goes. */
export function addressOf(event: MessengerEvent): Address {
  const { thread } = event;
  return {
    messengerId: event.messengerId,
    threadId: thread.id,
    chatId: thread.chatId,
    isDirectMessage: thread.isDirectMessage,
    ...(thread.topicId !== undefined && { topicId: thread.topicId }),
  };
}
