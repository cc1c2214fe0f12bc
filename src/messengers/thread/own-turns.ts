import type { Delivery } from "../../core/delivery.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { PromptStore } from "../../inbox/prompt-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import { HEARTBEAT_MS } from "../declare/wake.ts";
import { Prompts } from "../turns/prompts.ts";
import type { AcceptedPrompt, PromptRequest } from "../turns/prompts.ts";
import { StoredToolCalls } from "../turns/stored-tool-calls.ts";
import { turnInfoOf } from "../turns/turn-info-of.ts";
import { TurnResponses } from "../turns/turn-responses.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";

interface OwnTurnsParts extends ThreadRuntimeOptions {
  readonly turns: TurnStore;
  readonly inbox: InboxStore;
  readonly delivery: Delivery;
  readonly notes: NoteStore;
  readonly promptStore: PromptStore;
}

/** Turns that the bot's own code begins, and the facts about turns that it may read. */
export class OwnTurns {
  readonly prompts: Prompts;
  /** Posts of the bot's own code that the model will know from its next turn on. */
  readonly notes: NoteStore;
  readonly calls: StoredToolCalls;
  readonly responses: TurnResponses;
  readonly #options: OwnTurnsParts;

  constructor(options: OwnTurnsParts) {
    const { engine, notes, promptStore, turns } = options;
    this.#options = options;
    this.prompts = new Prompts({ ...options, store: promptStore, onEnded: options.onPromptEnded });
    this.notes = notes;
    this.calls = new StoredToolCalls(turns);
    this.responses = new TurnResponses({
      ...options,
      isAwaited: () => engine.ends.isAwaited,
      tell: ({ id, session }, status) => engine.ends.tell(id, session, status),
    });
  }

  /** Returns a turn as bot code sees it. */
  info(turnId: string): TurnInfo | undefined {
    return turnInfoOf(turnId, { ...this.#options, prompts: this.prompts });
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
    if (state === "pending" || state === "running")
      this.#options.wake.at(this.#options.deps.clock.now() + HEARTBEAT_MS);
    return accepted;
  }
}
