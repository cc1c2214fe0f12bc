import type { UIMessage } from "ai";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { MessagesTurn, Turn } from "../../turn/turn-store.ts";
import { noteParts } from "./note-parts.ts";
import { userParts } from "./user-message.ts";
import type { TurnParts } from "./turn-parts.ts";

/** Builds the questions of a conversation's turns to the model from the stored rows. */
export class TurnQuestions {
  readonly #options: TurnParts;

  constructor(options: TurnParts) {
    this.#options = options;
  }

  /** Returns the messages of a turn, with the notes that it has taken. */
  of(turn: Turn): readonly UIMessage[] {
    const [first, ...others] = this.#askedIn(turn);
    const noted = noteParts(this.#options.notes.ofTurn(turn.id));
    return first === undefined ? [] : [{ ...first, parts: [...noted, ...first.parts] }, ...others];
  }

  /** Returns the people's messages that a turn answers, in order of arrival. */
  eventsOf({ messageSeqs }: MessagesTurn): MessengerEvent[] {
    return this.#options.inbox.rows(messageSeqs).flatMap(({ event }) => (event === undefined ? [] : [event]));
  }

  /** Returns the people's messages that a turn answers, by the turn's id. */
  eventsById(turnId: string): MessengerEvent[] {
    const turn = this.#options.turns.get(turnId);
    return turn?.kind === "messages" ? this.eventsOf(turn) : [];
  }

  #askedIn(turn: Turn): readonly UIMessage[] {
    if (turn.kind !== "messages") return this.#options.prompts.get(turn.id)?.messages ?? [];
    const { bot, log, messengers } = this.#options;
    const parts = userParts(this.eventsOf(turn), (id) => messengers.get(id), log, {
      transcribes: bot?.transcribes?.() ?? false,
    });
    return [{ id: turn.id, role: "user", parts }];
  }
}
