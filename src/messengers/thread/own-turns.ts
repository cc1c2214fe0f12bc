import type { Delivery } from "../../core/chat/delivery.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { PromptStore } from "../../inbox/prompt-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import { Prompts } from "../turns/prompts.ts";
import type { AcceptedPrompt, PromptRequest } from "../turns/prompts.ts";
import { TurnResponses } from "../turns/turn-responses.ts";
import type { ThreadLoop } from "./thread-loop.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { ToolCallFacts } from "../../turn/turn-engine-options.ts";

interface OwnTurnsParts extends ThreadRuntimeOptions {
  readonly turns: TurnStore;
  readonly inbox: InboxStore;
  readonly delivery: Delivery;
  readonly notes: NoteStore;
  readonly promptStore: PromptStore;
  readonly loop: Pick<ThreadLoop, "expect">;
}

/** Turns that the bot's own code begins, and the facts about turns that it may read. */
export class OwnTurns {
  readonly prompts: Prompts;
  /** Posts of the bot's own code that the model will know from its next turn on. */
  readonly notes: NoteStore;
  readonly calls: StoredToolCalls;
  readonly responses: TurnResponses;
  readonly #options: OwnTurnsParts;
  /** The turn that was asked for last. The bot's code asks for the running turn again and again. */
  #known: TurnInfo | undefined;

  constructor(options: OwnTurnsParts) {
    const { engine, notes, promptStore, turns } = options;
    this.#options = options;
    this.prompts = new Prompts({ ...options, store: promptStore });
    this.notes = notes;
    this.calls = new StoredToolCalls(turns);
    this.responses = new TurnResponses({
      ...options,
      isAwaited: () => engine.ends.isAwaited,
      tell: ({ id, session }, status) => engine.ends.tell(id, session, status),
    });
  }

  /** Returns a turn as bot code sees it. Undefined if the turn is unknown, or was forgotten. */
  info(turnId: string): TurnInfo | undefined {
    if (this.#known?.id !== turnId) this.#known = this.#read(turnId);
    // The caller may be the bot's code. Its changes must not reach the next caller, who may decide about people by it.
    return structuredClone(this.#known);
  }

  /** Reads turns again, because the chats of their answers have changed. */
  chatMoved(): void {
    this.#known = undefined;
  }

  #read(turnId: string): TurnInfo | undefined {
    const { inbox, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn === undefined) return undefined;
    const { id, kind } = turn;
    if (turn.kind !== "messages") {
      const { answerTo = [], channel, continues = false, metadata } = this.prompts.get(id) ?? {};
      return {
        id,
        kind,
        authors: [],
        answerTo,
        ...(metadata !== undefined && { metadata }),
        ...(channel !== undefined && { channel }),
        ...(continues && { continues }),
      };
    }
    const authors = new Map<string, MessengerAuthor>();
    // The turn has the event of its newest message itself.
    const messages = turn.messageSeqs.length > 1 ? inbox.rows(turn.messageSeqs) : [{ event: turn.context }];
    for (const { event } of messages) {
      if (event?.author !== undefined) authors.set(event.author.userId, event.author);
    }
    return { id, kind, authors: [...authors.values()], answerTo: [turn.address], event: turn.context };
  }

  /** Returns the id of the newest turn. */
  newest(): string | undefined {
    return this.#options.turns.newest()?.id;
  }

  /** Whether a turn still runs, or will be resumed after a crash. */
  isRunning(turnId: string): boolean {
    return this.#options.turns.unfinished().some(({ id }) => id === turnId);
  }

  /** Returns when the newest message of a turn arrived, in epoch milliseconds. Undefined if the turn is unknown. */
  arrivedAt(turnId: string): number | undefined {
    return this.#options.turns.get(turnId)?.lastReceivedAt;
  }

  /** Returns the session in which a turn runs. Undefined if the turn is unknown. */
  sessionOf(turnId: string): string | undefined {
    return this.#options.turns.get(turnId)?.session;
  }

  /** Stores a prompt, unless it is known (`Prompts.accept`). Sets a wake-up if work is left for it. */
  submit(request: PromptRequest): AcceptedPrompt {
    const accepted = this.prompts.accept(request);
    const { state } = accepted.prompt;
    // A known prompt may have been stored by a process that died before it could set a wake-up.
    if (state === "pending" || state === "running") this.#options.loop.expect();
    return accepted;
  }
}

/** Stored facts about the tool calls of turns. */
class StoredToolCalls implements ToolCallFacts {
  readonly #turns: TurnStore;

  constructor(turns: TurnStore) {
    this.#turns = turns;
  }

  /** Stores that a tool with an effect is about to run. From now on its turn cannot be withdrawn. */
  begin(turnId: string, callId: string): void {
    const turn = this.#turns.get(turnId);
    if (turn?.begunCalls.includes(callId) === false) this.#turns.beginCall(turnId, callId);
  }

  /**
   * Whether a tool call with an effect may have begun. A turn stored by the first release says only that some call has.
   */
  hasBegun(turnId: string, callId: string): boolean {
    const turn = this.#turns.get(turnId);
    if (turn === undefined) return true;
    return turn.begunCalls.includes(callId) || (turn.acted && turn.begunCalls.length === 0);
  }

  /**
   * Stores that the result of a call waits for somebody's decision. Call it in the transaction that stores the action
   * to decide about. When all results of a step wait, the turn ends there, with the text so far.
   */
  park(turnId: string, callId: string): void {
    const turn = this.#turns.get(turnId);
    if (turn?.waitingCalls.includes(callId) === false) this.#turns.park(turnId, callId);
  }

  isWaiting(turnId: string, callId: string): boolean {
    return this.#turns.get(turnId)?.waitingCalls.includes(callId) === true;
  }

  /** Ends the turn after this step. Its text so far is its answer. */
  endHere(turnId: string, why: "parking" | "out-of-steps"): void {
    if (this.#turns.get(turnId)?.state === "open") this.#turns.setState(turnId, why);
  }
}
