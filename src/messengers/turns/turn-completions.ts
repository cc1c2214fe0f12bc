import type { TurnOutcome } from "../../turn/turn-engine-options.ts";
import type { MessagesTurn, Turn } from "../../turn/turn-store.ts";
import type { ReadyAttachments } from "./turn-attachments.ts";
import type { TurnBeginnings } from "./turn-beginnings.ts";
import type { TurnReplies } from "./turn-replies.ts";
import type { EndedOperation } from "./visible-text.ts";
import type { TurnParts } from "./turn-parts.ts";

interface TurnCompletionsParts extends TurnParts {
  readonly replies: TurnReplies;
  readonly beginnings: TurnBeginnings;
}

/**
 * Completes turns: ends their operations, and stores the whole text of their replies. `TurnEndings` decides which turns
 * end before their operation has.
 *
 * 1. The end of a turn, of its messages or prompt, and of its reply is one transaction.
 * 2. Attachments of finished actions are sent however the turn ends, because the actions had their effects.
 */
export class TurnCompletions {
  readonly #options: TurnCompletionsParts;

  constructor(options: TurnCompletionsParts) {
    this.#options = options;
  }

  /** Completes an open turn whose operation has ended. */
  async finish(open: Turn, outcome: EndedOperation): Promise<void> {
    const { attachments, beginnings, database, engine, inbox, prompts, replies, responses, turns } =
      this.#options;
    const attached = await this.#attachmentsOf(open);
    const { id } = open;
    const turn = turns.get(id);
    if (turn?.state !== "open") return;
    const characters = database.transaction(() => {
      turns.setState(id, "ended");
      responses.due(id, ENDS[outcome.kind]);
      if (turn.kind === "messages")
        inbox.end(turn.messageSeqs, outcome.kind === "done" ? "answered" : outcome.kind);
      else prompts.end(id, ENDS[outcome.kind], outcome.kind === "failed" ? "turn-failed" : undefined);
      const length = replies.finish(turn, outcome);
      attachments.post(attached);
      return length;
    });
    beginnings.forget(id);
    engine.events.ended(turn, outcome.kind, characters);
  }

  /** Ends the operation of a turn that must not continue, and completes the turn. */
  async end(turn: Turn): Promise<void> {
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

  /**
   * Ends the operation of the turn that this one replaces, and removes it from the transcript. Its visible messages
   * belong to this one already.
   */
  async clearPlaceOf(turn: MessagesTurn): Promise<void> {
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

  /**
   * Completes a turn that ended between two steps: its text stays, without a mark. It made way for a later message,
   * waits for somebody's decision, or has used all its steps.
   */
  #finishEarly(turn: Turn, outcome: TurnOutcome, attached: ReadyAttachments | undefined): void {
    const { attachments, beginnings, database, engine, inbox, prompts, replies, responses, turns } =
      this.#options;
    const text = "text" in outcome ? outcome.text : "";
    const end = earlyEndOf(turn);
    const isAnswered = end === "done" || end === "out-of-steps";
    database.transaction(() => {
      if (isAnswered) replies.finish(turn, { kind: end, text });
      else replies.finishYielded(turn, text);
      attachments.post(attached);
      turns.setState(turn.id, "ended");
      responses.due(turn.id, "completed");
      if (turn.kind === "messages") inbox.end(turn.messageSeqs, isAnswered ? "answered" : end);
      else prompts.end(turn.id, "completed");
    });
    engine.events.ended(turn, end);
    beginnings.forget(turn.id);
  }

  #attachmentsOf(turn: Turn): Promise<ReadyAttachments | undefined> {
    return this.#options.attachments.prepare(turn.id, this.#options.replies.targets(turn));
  }
}

const ENDS = { done: "completed", stopped: "aborted", failed: "error" } as const;

function earlyEndOf({ state, waitingCalls }: Turn): "steered" | "out-of-steps" | "parked" | "done" {
  if (state === "yielding") return "steered";
  if (state === "out-of-steps") return "out-of-steps";
  return waitingCalls.length > 0 ? "parked" : "done";
}
