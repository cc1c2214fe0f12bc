import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { nextBatch } from "../../inbox/next-batch.ts";
import type { MessagesTurn, Turn } from "../../turn/turn-store.ts";
import { EditedTurns } from "./edited-turns.ts";
import { FollowUps } from "./follow-ups.ts";
import type { Answers } from "../replies/answers.ts";
import { ToolGate } from "./tool-gate.ts";
import { TurnBeginnings } from "./turn-beginnings.ts";
import { TurnCompletions } from "./turn-completions.ts";
import { turnLines } from "./turn-log.ts";
import { TurnEndings } from "./turn-endings.ts";
import { TurnReplies } from "./turn-replies.ts";
import { TurnQuestions } from "./turn-questions.ts";
import type { TurnParts } from "./turn-parts.ts";

/** The events of a conversation, as its turns wait for them. */
export interface Unread {
  /** Whether some events were not looked at yet. */
  hasUnread(): boolean;
}

/**
 * Runs the turns of a conversation, one at a time (I3): it chooses the next one from the waiting messages and prompts,
 * and takes it step by step to its end. `TurnBeginnings` stores and starts turns, `TurnCompletions` completes them, and
 * `TurnEndings` ends those that nobody wants any more. `FollowUps` knows whether new messages change the running turn.
 *
 * 1. Every step begins with a stored row and can be repeated, so after a crash `advance` continues each turn where it
 *    was.
 * 2. People's messages and prompts wait in one queue, in order of arrival. A burst of messages counts with its first one.
 * 3. A prompt waits for the running turn, never changes it, and has a turn of its own.
 */
export class TurnRunner implements Answers {
  readonly replies: TurnReplies;
  readonly endings: TurnEndings;
  readonly questions: TurnQuestions;
  readonly #options: TurnParts;
  readonly #followUps: FollowUps;
  readonly #edits: EditedTurns;
  readonly #toolGate: ToolGate;
  readonly #beginnings: TurnBeginnings;
  readonly #completions: TurnCompletions;

  constructor(options: TurnParts) {
    this.#options = options;
    this.questions = new TurnQuestions(options);
    this.#followUps = new FollowUps(options);
    this.replies = new TurnReplies(options, this.questions);
    this.#toolGate = new ToolGate(options, this.#followUps);
    options.engine.events.listen(turnLines(options.log));
    const parts = { ...options, replies: this.replies, toolGate: this.#toolGate };
    this.#edits = new EditedTurns(options, this.#followUps);
    this.#beginnings = new TurnBeginnings({ ...parts, questions: this.questions });
    this.#completions = new TurnCompletions({ ...parts, beginnings: this.#beginnings });
    this.endings = new TurnEndings(parts);
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
  async advance(unread: Unread): Promise<number | undefined> {
    const { turns } = this.#options;
    this.endings.dropUndeclared();
    for (;;) {
      const [turn] = turns.unfinished();
      if (turn === undefined) {
        const wakeAt = this.#takeNext(unread);
        if (wakeAt === "begun") continue;
        return wakeAt;
      }
      if (turn.state !== "open") {
        await this.#completions.end(turn);
        continue;
      }
      if (turn.kind !== "messages") {
        if (await this.#settle(turn)) continue;
        return undefined;
      }
      if (turn.replaces !== undefined && !this.#beginnings.hasStarted(turn.id)) {
        // This comes first, because this turn may be replaced as well.
        await this.#completions.clearPlaceOf(turn);
        if (turns.get(turn.id)?.state !== "open") continue;
      }
      if (this.#supersede(turn) || this.#interrupt(turn) || this.#giveWay(turn)) continue;
      if (!(await this.#settle(turn))) return this.#followUps.heldUntil(turn);
    }
  }

  /** Begins an open turn, or finishes one whose operation has ended. Returns `false` while the model is working. */
  async #settle(turn: Turn): Promise<boolean> {
    if (!this.#beginnings.hasStarted(turn.id)) {
      await this.#beginnings.start(turn);
      return true;
    }
    const outcome = await this.#options.engine.outcome(turn.id, turn.session);
    if (outcome.kind === "open") return false;
    if (outcome.kind === "unknown") this.#beginnings.forget(turn.id);
    else await this.#completions.finish(turn, outcome);
    return true;
  }

  /** Whether a turn is running. */
  isBusy(): boolean {
    return this.#options.turns.hasUnfinished();
  }

  /**
   * Tells whether the model goes on to its next step. `yield` if the turn is being ended, or if the person wrote more
   * and the messenger steers. Only knows messages that have been read.
   */
  beforeStep(turnId: string): "go" | "yield" {
    const { consent, turns } = this.#options;
    consent?.stepEnded(turnId);
    const turn = turns.get(turnId);
    if (turn === undefined) return "go";
    if (turn.state !== "open") return "yield";
    if (turn.kind !== "messages") return "go";
    if (!this.#followUps.isContinued(turn) && this.#interrupt(turn)) return "yield";
    if (this.#options.messengers.get(turn.address.messengerId).whenBusy !== "steer") return "go";
    if (!this.#followUps.hasNews(turn)) return "go";
    turns.setState(turn.id, "yielding");
    return "yield";
  }

  /**
   * Before a tool with an effect runs: see `ToolGate`. A message that interrupts the turn may have been read a moment
   * ago.
   */
  beforeTool(turnId: string): Promise<"run" | "block"> {
    const turn = this.#options.turns.get(turnId);
    if (turn?.kind === "messages" && turn.state === "open" && !this.#followUps.isContinued(turn))
      this.#interrupt(turn);
    return this.#toolGate.pass(turnId);
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

  stopAll(by: MessengerEvent): boolean {
    const effect = this.#options.consent?.stopped(by) ?? "nothing";
    if (this.endings.stopAll(by)) return true;
    if (effect === "unseen") this.replies.tellStopped(`stopped:${by.messengerId}:${by.key}`, by);
    return effect !== "nothing";
  }

  startOver(by: MessengerEvent): void {
    this.#options.consent?.stopped(by);
    this.endings.stopRunning(by);
    this.#options.memory.openSession(this.#options.deps.newId());
  }

  stopDraft(press: MessengerEvent): boolean {
    return this.endings.stopDraft(press);
  }

  /**
   * Tells whether the edit belongs to the newest turn, and that turn waits for consent or the messenger re-answers edits
   * (`rerunOnEdit`).
   */
  mayRerun(edit: MessengerEvent): boolean {
    return this.#edits.rerunnable(edit) !== undefined;
  }

  /** Restarts the newest turn, because one of its messages was edited. Returns false if that is not wanted. */
  rerun(edit: MessengerEvent): boolean {
    const found = this.#edits.rerunnable(edit);
    if (found === undefined) return false;
    this.#options.database.transaction(() => {
      this.#edits.correct(found, edit);
      this.#beginnings.ofMessages([], found.turn);
    });
    return true;
  }

  /** Stores an edit that does not restart the turn, so that a later restart sees it. */
  keepEdit(edit: MessengerEvent): void {
    this.#edits.keep(edit);
  }

  #takeNext(unread: Unread): number | "begun" | undefined {
    const { deps, inbox, prompts } = this.#options;
    const queued = inbox.inState("queued");
    const prompt = prompts.nextBefore(queued[0]?.seq ?? Infinity);
    if (prompt !== undefined) {
      // An event that was not looked at may be a message that came before the prompt (I3).
      if (unread.hasUnread()) return undefined;
      this.#beginnings.ofPrompt(prompt);
      return "begun";
    }
    const next = nextBatch(queued, (id) => this.#options.messengers.get(id), deps.clock.now());
    switch (next.kind) {
      case "none":
        return undefined;
      case "wait":
        return next.until;
      case "batch": {
        const before = this.#options.turns.newest();
        const continues = before?.kind === "messages" && this.#followUps.continues(before, next.rows[0]);
        this.#beginnings.ofMessages(next.rows, continues ? before : undefined);
        return "begun";
      }
    }
  }

  /** Withdraws the running turn if the next message continues its question. The turn starts over with all of them. */
  #supersede(turn: MessagesTurn): boolean {
    const { deps } = this.#options;
    const queued = this.#followUps.queuedFor(turn);
    const [first] = queued;
    if (first === undefined || first.readyAt > deps.clock.now() || !this.#followUps.continues(turn, first))
      return false;
    const next = nextBatch(queued, (id) => this.#options.messengers.get(id), deps.clock.now());
    if (next.kind !== "batch") return false;
    this.#beginnings.ofMessages(next.rows, turn);
    return true;
  }

  /**
   * Makes way for a new message while a failed call is made again and shows nothing new. A new turn answers both. A turn
   * that has had an effect ends instead, and the next one continues from its results.
   */
  #giveWay(turn: MessagesTurn): boolean {
    const { deps, engine, messengers, turns } = this.#options;
    if (!engine.isRepeating(turn.id) || !this.#followUps.hasNews(turn)) return false;
    if (this.#followUps.hasActed(turn) || turn.waitingCalls.length > 0) {
      turns.setState(turn.id, "yielding");
      return true;
    }
    const next = nextBatch(this.#followUps.queuedFor(turn), (id) => messengers.get(id), deps.clock.now());
    if (next.kind !== "batch") return false;
    this.#beginnings.ofMessages(next.rows, turn);
    return true;
  }

  /** Ends the running reply for a new message, if the messenger interrupts. The visible text stays. */
  #interrupt(turn: MessagesTurn): boolean {
    if (this.#options.messengers.get(turn.address.messengerId).whenBusy !== "interrupt") return false;
    return this.#followUps.hasNews(turn) && this.endings.stopRunning();
  }
}
