import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { Prompt } from "../../inbox/prompt-store.ts";
import type { MessagesTurn, NewTurn, Turn } from "../../turn/turn-store.ts";
import { addressOf } from "../replies/address-of.ts";
import type { ToolGate } from "./tool-gate.ts";
import type { TurnQuestions } from "./turn-questions.ts";
import type { TurnReplies } from "./turn-replies.ts";
import type { TurnParts } from "./turn-parts.ts";

interface TurnBeginningsParts extends TurnParts {
  readonly replies: TurnReplies;
  readonly questions: TurnQuestions;
  readonly toolGate: ToolGate;
}

/**
 * Makes turns of messages and prompts.
 *
 * 1. A turn is stored in the transaction that takes its messages or its prompt out of the queue (I2).
 * 2. A turn that replaces another takes over its visible messages in the same transaction.
 * 3. The operation of a turn is started after its row is stored, and again after a restart.
 */
export class TurnBeginnings {
  readonly #options: TurnBeginningsParts;
  /** Turns whose operation this process has begun or resumed. */
  readonly #started = new Set<string>();

  constructor(options: TurnBeginningsParts) {
    this.#options = options;
  }

  /** Stores a turn of messages. With `replaced`, that turn ends, and the new one answers its messages, too. */
  ofMessages(rows: readonly InboxRow[], replaced: MessagesTurn | undefined): void {
    const { consent, database, deps, engine, inbox, memory, notes, replies, toolGate, turns } = this.#options;
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
        toolGate.release(replaced.id);
        this.#started.delete(replaced.id);
        turns.setState(replaced.id, "withdrawn");
        // Another turn answers its messages.
        consent?.turnReplaced(replaced.id);
        replies.withdraw(replaced);
      }
      inbox.take(rows.map((row) => row.seq));
      const inserted = turns.insert(turn);
      notes.take(turn.id, replaced?.id);
      // At once, because a lost post of the withdrawn reply is only searched for while a reply owns it (I6).
      if (replaced !== undefined) replies.open(inserted);
    });
    if (replaced?.state === "open") engine.events.ended(replaced, "replaced");
    engine.events.begun(turn);
  }

  /** Stores the turn of a prompt, in the current session. */
  ofPrompt({ createdAt, id, kind }: Prompt): void {
    const { database, engine, memory, notes, prompts, turns } = this.#options;
    const turn: NewTurn = { id, kind, session: memory.session(), lastReceivedAt: createdAt };
    database.transaction(() => {
      prompts.start(id);
      turns.insert(turn);
      notes.take(id, undefined);
    });
    engine.events.begun(turn);
  }

  /** Starts the operation of a turn, unless it exists. */
  async start(turn: Turn): Promise<void> {
    const { engine, prompts, questions, replies } = this.#options;
    replies.open(turn);
    await engine.start(turn.id, turn.session, questions.of(turn), replies.sinkOf(turn));
    this.#started.add(turn.id);
    if (turn.kind !== "messages") prompts.settle(turn.id);
  }

  /** Whether this process has started the operation of a turn, and nobody has forgotten it since. */
  hasStarted(turnId: string): boolean {
    return this.#started.has(turnId);
  }

  /** Notes that a turn has ended, or that its operation is unknown and must be started again. */
  forget(turnId: string): void {
    this.#started.delete(turnId);
  }
}
