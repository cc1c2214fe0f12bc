import type { Approvals } from "../../approvals/approvals.ts";
import type { Database } from "../../core/database.ts";
import type { Delivery } from "../../core/delivery.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { InboxRow, InboxStore } from "../../inbox/inbox-store.ts";
import type { Prompt } from "../../inbox/prompt-store.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import { nextBatch } from "../../inbox/next-batch.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import type { TurnOutcome } from "../../turn/turn-engine-options.ts";
import type { MessagesTurn, NewTurn, Turn, TurnStore } from "../../turn/turn-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { addressOf } from "../replies/address-of.ts";
import { editedTurn } from "./edited-turn.ts";
import type { EditedTurn } from "./edited-turn.ts";
import { FollowUps } from "./follow-ups.ts";
import { correctedEvent } from "../../inbox/corrected-event.ts";
import type { Answers } from "../replies/answers.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import type { Prompts } from "./prompts.ts";
import { ToolGate } from "./tool-gate.ts";
import { TurnEndings } from "./turn-endings.ts";
import { TurnLog } from "./turn-log.ts";
import type { TurnLogOptions } from "./turn-log.ts";
import type { ReadyAttachments, TurnAttachments } from "./turn-attachments.ts";
import type { TurnResponses } from "./turn-responses.ts";
import { TurnReplies } from "./turn-replies.ts";
import { TurnQuestions } from "./turn-questions.ts";
import type { EndedTurn } from "./visible-text.ts";

export interface TurnRunnerOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly prompts: Prompts;
  readonly notes: NoteStore;
  readonly memory: ThreadMemory;
  readonly delivery: Delivery;
  readonly engine: TurnEngine;
  readonly messengers: Pick<DeclaredMessengers, "get" | "isDeclared">;
  /** @default a bot that transcribes no audio files */
  readonly bot?: { transcribes?(): boolean };
  readonly responses: TurnResponses;
  readonly attachments: Pick<TurnAttachments, "prepare" | "post">;
  /** People's consent to actions for which turns have asked. @default nobody is asked */
  readonly approvals?: Pick<Approvals, "hasConsent" | "isAsking" | "drop"> | undefined;
  /** Called with the use of each ended turn. */
  readonly onUsed?: TurnLogOptions["onUsed"];
  /** Whether the intake has not looked at some events yet. `advance` is called again when it has. */
  readonly hasUnread: () => boolean;
}

/**
 * Makes turns of waiting messages and prompts, one turn at a time (I3), and passes a turn's text to its replies. Every
 * step begins with a stored row and can be repeated, so after a crash `advance` continues each turn where it was.
 *
 * People's messages and prompts wait in one queue, in order of arrival. A burst of messages counts with its first one.
 * A prompt waits for the running turn, never changes it, and has a turn of its own.
 */
export class TurnRunner implements Answers {
  readonly replies: TurnReplies;
  readonly endings: TurnEndings;
  readonly questions: TurnQuestions;
  readonly #options: TurnRunnerOptions;
  /** Turns whose operation this process has begun or resumed. */
  readonly #begun = new Set<string>();
  readonly #followUps: FollowUps;
  readonly #toolGate: ToolGate;
  readonly #turnLog: TurnLog;

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
    const { prompts } = options;
    this.questions = new TurnQuestions(options);
    this.#followUps = new FollowUps(options);
    this.replies = new TurnReplies({
      ...options,
      eventsOf: (turn) => this.questions.eventsOf(turn),
      answerTo: (promptId) => prompts.answerTo(promptId),
    });
    this.#toolGate = new ToolGate({
      deps: options.deps,
      turns: options.turns,
      burstEnd: (turn) => (turn.kind === "messages" ? this.#followUps.burstEnd(turn) : undefined),
    });
    const { deps, engine, log } = options;
    this.#turnLog = new TurnLog({ clock: deps.clock, log, stats: engine.stats, onUsed: options.onUsed });
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
        await this.#end(turn);
        continue;
      }
      if (turn.kind !== "messages") {
        if (await this.#settle(turn)) continue;
        return undefined;
      }
      if (turn.replaces !== undefined && !this.#begun.has(turn.id)) {
        // This comes first, because this turn may be replaced as well.
        await this.#takePlace(turn);
        if (turns.get(turn.id)?.state !== "open") continue;
      }
      if (this.#supersede(turn) || this.#interrupt(turn)) continue;
      if (!(await this.#settle(turn))) return this.#followUps.heldUntil(turn);
    }
  }

  /** Begins an open turn, or finishes one whose operation has ended. Returns `false` while the model is working. */
  async #settle(turn: Turn): Promise<boolean> {
    if (!this.#begun.has(turn.id)) {
      await this.#begin(turn);
      return true;
    }
    const outcome = await this.#options.engine.outcome(turn.id, turn.session);
    if (outcome.kind === "open") return false;
    if (outcome.kind === "unknown") this.#begun.delete(turn.id);
    else this.#finish(turn.id, outcome, await this.#attachmentsOf(turn));
    return true;
  }

  /** Ends the operation of a turn that must not continue. */
  async #end(turn: Turn): Promise<void> {
    const { attachments, database, engine, turns } = this.#options;
    // The process may have died before the replaced turn had ended.
    if (turn.kind === "messages") await this.#endReplaced(turn);
    await engine.abort(turn.id, turn.session);
    const attached = await this.#attachmentsOf(turn);
    if (turn.state !== "stopping") {
      this.#finishEarly(turn, await engine.outcome(turn.id, turn.session), attached);
      return;
    }
    database.transaction(() => {
      turns.setState(turn.id, "ended");
      attachments.post(attached);
    });
  }

  /** Attachments of finished actions are sent however the turn ends, because the actions had their effects. */
  #attachmentsOf(turn: Turn): Promise<ReadyAttachments | undefined> {
    return this.#options.attachments.prepare(turn.id, this.replies.targets(turn));
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
    const { turns } = this.#options;
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
    return this.endings.stopAll(by);
  }

  startOver(by: MessengerEvent): void {
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

  #rerunnable(edit: MessengerEvent): EditedTurn | undefined {
    const found = this.#edited(edit);
    return found?.turn.state === "open" || found?.turn.state === "ended" ? found : undefined;
  }

  #edited(edit: MessengerEvent): EditedTurn | undefined {
    const isAsking = ({ id }: MessagesTurn): boolean => this.#options.approvals?.isAsking(id) === true;
    return editedTurn(
      { ...this.#options, hasActed: (turn) => this.#followUps.hasActed(turn), isAsking },
      edit,
    );
  }

  #takeNext(): number | "begun" | undefined {
    const { deps, inbox, prompts } = this.#options;
    const queued = inbox.inState("queued");
    const prompt = prompts.nextBefore(queued[0]?.seq ?? Infinity);
    if (prompt !== undefined) {
      // An event that was not looked at may be a message that came before the prompt (I3).
      if (this.#options.hasUnread()) return undefined;
      this.#insertPrompt(prompt);
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
        this.#insert(next.rows, continues ? before : undefined);
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
    this.#insert(next.rows, turn);
    return true;
  }

  /** Ends the running reply for a new message, if the messenger interrupts. The visible text stays. */
  #interrupt(turn: MessagesTurn): boolean {
    if (this.#options.messengers.get(turn.address.messengerId).whenBusy !== "interrupt") return false;
    return this.#followUps.hasNews(turn) && this.endings.stopRunning();
  }

  #insert(rows: readonly InboxRow[], replaced: MessagesTurn | undefined): void {
    const { database, deps, inbox, memory, notes, turns } = this.#options;
    const newest = rows.at(-1) ?? inbox.rows(replaced?.messageSeqs ?? []).at(-1);
    if (newest?.event === undefined) return;
    const { event } = newest;
    const turn: NewTurn = {
      id: deps.newId(),
      kind: "messages",
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
        // Another turn answers its messages.
        this.#options.approvals?.drop(replaced.id, "replaced");
        this.replies.withdraw(replaced);
      }
      inbox.take(rows.map((row) => row.seq));
      const inserted = turns.insert(turn);
      notes.take(turn.id, replaced?.id);
      // At once, because a lost post of the withdrawn reply is only searched for while a reply owns it (I6).
      if (replaced !== undefined) this.replies.open(inserted);
    });
    if (replaced?.state === "open") this.#turnLog.ended(replaced, "replaced");
    this.#turnLog.begun(turn);
  }

  /** Begins a prompt's turn in the current session. The rows of turn and prompt change together (I2). */
  #insertPrompt({ createdAt, id, kind }: Prompt): void {
    const { database, memory, notes, prompts, turns } = this.#options;
    const turn: NewTurn = { id, kind, session: memory.session(), lastReceivedAt: createdAt };
    database.transaction(() => {
      prompts.start(id);
      turns.insert(turn);
      notes.take(id, undefined);
    });
    this.#turnLog.begun(turn);
  }

  /** Ends the turn that this one replaces. Its visible messages belong to this one already. */
  async #takePlace(turn: MessagesTurn): Promise<void> {
    const ended = await this.#endReplaced(turn);
    if (ended !== undefined) await this.#options.engine.forget(ended, turn.session);
  }

  /**
   * Ends the operation of the replaced turn. If that turn had none yet, the turn that it replaced may still be running.
   * Returns the turn whose operation had begun, if there is one.
   */
  async #endReplaced(turn: MessagesTurn): Promise<string | undefined> {
    const { engine } = this.#options;
    for (let id = turn.replaces; id !== undefined; id = this.#replacedBy(id)) {
      const { kind } = await engine.outcome(id, turn.session);
      if (kind === "unknown") continue;
      await engine.abort(id, turn.session);
      return id;
    }
    return undefined;
  }

  #replacedBy(turnId: string): string | undefined {
    const turn = this.#options.turns.get(turnId);
    return turn?.kind === "messages" ? turn.replaces : undefined;
  }

  async #begin(turn: Turn): Promise<void> {
    const { engine, prompts } = this.#options;
    this.replies.open(turn);
    await engine.start(turn.id, turn.session, this.questions.of(turn), this.replies.sinkOf(turn));
    this.#begun.add(turn.id);
    if (turn.kind !== "messages") prompts.settle(turn.id);
  }

  #finish(turnId: string, outcome: EndedTurn, attached: ReadyAttachments | undefined): void {
    const { attachments, database, inbox, prompts, responses, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn?.state !== "open") return;
    const characters = database.transaction(() => {
      turns.setState(turn.id, "ended");
      responses.due(turn.id, ENDS[outcome.kind]);
      if (turn.kind === "messages")
        inbox.end(turn.messageSeqs, outcome.kind === "done" ? "answered" : outcome.kind);
      else prompts.end(turn.id, ENDS[outcome.kind], outcome.kind === "failed" ? "turn-failed" : undefined);
      const length = this.replies.finish(turn, outcome);
      attachments.post(attached);
      return length;
    });
    this.#begun.delete(turn.id);
    this.#turnLog.ended(turn, outcome.kind, characters);
  }

  /**
   * Finishes a turn that ended between two steps: its text stays, without a mark. It made way for a later message,
   * waits for somebody's decision, or has used all its steps.
   */
  #finishEarly(turn: Turn, outcome: TurnOutcome, attached: ReadyAttachments | undefined): void {
    const { attachments, database, inbox, prompts, responses, turns } = this.#options;
    const text = "text" in outcome ? outcome.text : "";
    const end = turn.state === "yielding" ? "steered" : turn.waitingCalls.length > 0 ? "parked" : "done";
    database.transaction(() => {
      if (end === "done") this.replies.finish(turn, { kind: "done", text });
      else this.replies.finishYielded(turn, text);
      attachments.post(attached);
      turns.setState(turn.id, "ended");
      responses.due(turn.id, "completed");
      if (turn.kind === "messages") inbox.end(turn.messageSeqs, end === "done" ? "answered" : end);
      else prompts.end(turn.id, "completed");
    });
    this.#turnLog.ended(turn, end);
    this.#begun.delete(turn.id);
  }
}

const ENDS = { done: "completed", stopped: "aborted", failed: "error" } as const;
