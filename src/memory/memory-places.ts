import { getTurn } from "../core/turn/turn-context.ts";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { PersonOf } from "../feature/session.ts";
import type { MemoryPlace } from "./memory-record.ts";
import type { Block } from "./own-session.ts";

/** The person of a call, if the turn is not known any more. */
export interface CallPerson {
  readonly requestId: string;
  readonly person: MessengerAuthor | undefined;
  readonly people: readonly MessengerAuthor[];
  readonly client: { readonly kind: string; readonly messengerId?: string };
}

/** The person about whom a turn may keep something. `several`: its messages are of more than one. */
export type Writer = PersonOf | "several" | "nobody";

/** Where memory is stored, and whose memory a turn may read and write. */
export class MemoryPlaces {
  readonly #host: Pick<FeatureHost<unknown>, "actions" | "botStates" | "thread">;

  constructor(host: Pick<FeatureHost<unknown>, "actions" | "botStates" | "thread">) {
    this.#host = host;
  }

  /** Returns the place of a block's entries. `person` is needed for a block of a person. */
  of({ scope }: Pick<Block, "scope">, person?: PersonOf): MemoryPlace | undefined {
    if (scope === "person") return person && this.person(person);
    return scope === "bot" ? { key: "blocks:bot", states: this.#host.botStates() } : this.conversation();
  }

  /** At the root, so that all conversations of the person have it. */
  person(person: PersonOf): MemoryPlace {
    const { messenger, userId } = person;
    return { key: `blocks:person:${messenger}:${userId}`, states: this.#host.botStates(), person };
  }

  /** After `/new` it is another one: nothing from before is used. */
  conversation(): MemoryPlace {
    const { actions, thread } = this.#host;
    return { key: `blocks:conversation:${thread.memory.session()}`, states: actions.states };
  }

  /** Returns the person whose messages alone the running turn answers, and whether only that person reads the answer. */
  reader(): { readonly person: PersonOf; readonly name: string; readonly isPrivate: boolean } | undefined {
    const turn = getTurn();
    const person = turn && this.#onlyPerson(turn);
    if (turn === undefined || typeof person !== "object") return undefined;
    const { fullName, userId, userName } = turn.authors[0] ?? { userId: person.userId };
    const isPrivate = turn.answerTo.length > 0 && turn.answerTo.every((chat) => chat.isDirectMessage);
    return { person, name: fullName ?? userName ?? userId, isPrivate };
  }

  /** Returns the person about whom a call may keep something. Its turn may be forgotten, if the call has waited. */
  writer({ client, people, person, requestId }: CallPerson): Writer {
    const turn = this.#host.thread.own.info(requestId);
    if (turn !== undefined) return this.#onlyPerson(turn);
    if (client.kind !== "chat" || client.messengerId === undefined) return "nobody";
    if (people.length > 1) return "several";
    return person === undefined || person.isChat === true
      ? "nobody"
      : { messenger: client.messengerId, userId: person.userId };
  }

  /** Returns the person's own words in the messages that a turn answers: no quotes, no files. */
  wordsOf(requestId: string): readonly string[] {
    return this.#host.thread.messagesOf(requestId).flatMap(({ message }) => message?.text ?? []);
  }

  #onlyPerson(turn: TurnInfo): Writer {
    if (turn.kind !== "messages" || turn.event === undefined) return "nobody";
    const events = this.#host.thread.messagesOf(turn.id);
    const [first] = turn.authors;
    // A message without an author, such as one of a channel, is somebody else's, too.
    const isOne = events.every(({ author }) => author !== undefined && author.userId === first?.userId);
    if (turn.authors.length > 1 || !isOne) return "several";
    if (first === undefined || first.isChat === true) return "nobody";
    return { messenger: turn.event.messengerId, userId: first.userId };
  }
}
