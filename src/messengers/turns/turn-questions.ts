import type { UIMessage } from "ai";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { MessagesTurn, Turn, TurnStore } from "../../turn/turn-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { noteParts } from "./note-parts.ts";
import type { Prompts } from "./prompts.ts";
import { userParts } from "./user-message.ts";

export interface TurnQuestionsOptions {
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly prompts: Prompts;
  readonly notes: NoteStore;
  readonly log: Log;
  readonly messengers: Pick<DeclaredMessengers, "get">;
  /** @default a bot that transcribes no audio files */
  readonly bot?: { transcribes?(): boolean };
}

/** Builds the questions of a conversation's turns to the model from the stored rows. */
export class TurnQuestions {
  readonly #options: TurnQuestionsOptions;

  constructor(options: TurnQuestionsOptions) {
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
