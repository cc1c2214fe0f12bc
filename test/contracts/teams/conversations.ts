/** Conversations of Microsoft Teams in memory: private chats with the bot, and channels of one team. */
import type { Person, Place, SentFile } from "../platform-emulator.ts";
import type { CardElement } from "./adaptive-card.ts";

export const TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47";
export const TEAM = "19:cbe3683f25094106b826c9cada3afbe0@thread.skype";

export interface Conversation {
  /** Without `;messageid=`, which names a thread of a channel. */
  readonly id: Place;
  readonly name: string;
  readonly isDirect: boolean;
  hasBot: boolean;
  /** Part of the address of the service. */
  region: string;
  typingShown: number;
}

export interface Consent {
  readonly name: string;
  readonly sizeInBytes: number;
  readonly acceptContext: unknown;
  readonly declineContext: unknown;
}

export interface Activity {
  readonly id: string;
  readonly conversation: Conversation;
  /** Id of the first message of its thread, which may be this one. Undefined in private chats. */
  readonly threadId: string | undefined;
  /** Undefined: the bot. */
  readonly by: Person | undefined;
  readonly onlyFor: string | undefined;
  files: readonly SentFile[];
  text: string;
  cards: readonly CardElement[];
  /** Files that the person is asked about. */
  consents: readonly Consent[];
  isEdited: boolean;
}

export class Conversations {
  readonly activities: Activity[] = [];
  readonly people = new Map<string, Person>();
  readonly now: () => number;
  readonly #conversations: Conversation[] = [];
  changed: () => void = () => {};
  #lastId = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  direct(person: Person): Conversation {
    this.people.set(userIdOf(person), person);
    return this.#ensure(`a:1${person.id}`, person.name, true);
  }

  channel(name: string): Conversation {
    return this.#ensure(`19:${Buffer.from(name).toString("hex")}@thread.tacv2`, name, false);
  }

  at(place: Place): Conversation {
    const found = this.find(place);
    if (found === undefined) throw new Error(`Teams has no place ${place}.`);
    return found;
  }

  /** @param id may name a thread */
  find(id: string): Conversation | undefined {
    const [place] = id.split(";messageid=");
    return this.#conversations.find((it) => it.id === place);
  }

  activity(conversation: Conversation, id: string | undefined): Activity | undefined {
    return this.activities.find((it) => it.conversation === conversation && it.id === id);
  }

  /** Ids are the time in milliseconds. */
  add(fields: Omit<Activity, "id" | "isEdited">): Activity {
    const id = this.nextId();
    const { conversation, threadId = id } = fields;
    const activity = {
      ...fields,
      threadId: conversation.isDirect ? undefined : threadId,
      id,
      isEdited: false,
    };
    this.activities.push(activity);
    this.changed();
    return activity;
  }

  remove(activity: Activity): void {
    this.activities.splice(this.activities.indexOf(activity), 1);
    this.changed();
  }

  nextId(): string {
    this.#lastId = Math.max(this.#lastId + 1, this.now());
    return String(this.#lastId);
  }

  #ensure(id: string, name: string, isDirect: boolean): Conversation {
    const known = this.find(id);
    if (known !== undefined) return known;
    const conversation = { id, name, isDirect, hasBot: true, region: "amer", typingShown: 0 };
    this.#conversations.push(conversation);
    return conversation;
  }
}

/** An id that holds for one bot alone. */
export function userIdOf({ id }: Person): string {
  return `29:1${id}`;
}

export function personIdOf(userId: string): string {
  return userId.replace(/^29:1/, "");
}
