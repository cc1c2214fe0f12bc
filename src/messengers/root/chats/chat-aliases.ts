import type { ChatMove } from "../../../core/chat/chat-move.ts";
import type { Clock } from "../../../core/base/deps.ts";
import { KEPT_KEYS_MS } from "../../../inbox/kept-keys.ts";
import type { MessengerThread } from "../../../core/chat/messenger-event.ts";
import { threadConversationName } from "../../declare/conversation-name.ts";
import type { RootStore, StoredAlias } from "../root-store.ts";

export interface ChatAliasesOptions {
  readonly clock: Clock;
  readonly store: Pick<RootStore, "aliases" | "addAlias">;
}

/**
 * Chats that continue under another id. A conversation keeps the name that it got from the first id. Few chats ever
 * move, so all of them are in memory.
 */
export class ChatAliases {
  readonly #options: ChatAliasesOptions;
  /** By messenger and thread. Each move is listed under its old and its new thread. */
  #byThread: Map<string, StoredAlias> | undefined;
  #byNewChat = new Map<string, StoredAlias>();

  constructor(options: ChatAliasesOptions) {
    this.#options = options;
  }

  /** Returns whether that was news. */
  learn(messengerId: string, move: ChatMove): boolean {
    const { clock, store } = this.#options;
    const known = this.#known();
    const { from, to } = move;
    const isKnown = [from, to].some(({ threadId }) => known.has(keyOf(messengerId, threadId)));
    if (isKnown || from.chatId === to.chatId) return false;
    this.#remember(known, store.addAlias(messengerId, move, clock.now()));
    return true;
  }

  /** Returns the move of an event's chat, whether the event came before or after the move. */
  moveOf(messengerId: string, { id }: MessengerThread): ChatMove | undefined {
    return this.#known().get(keyOf(messengerId, id))?.move;
  }

  /** Returns the id that a chat had before it moved. */
  formerChatId(messengerId: string, chatId: string): string | undefined {
    this.#known();
    return this.#byNewChat.get(keyOf(messengerId, chatId))?.move.from.chatId;
  }

  /** Returns the thread with its first id. Topics of a moved chat keep their own id. */
  firstThread(messengerId: string, thread: MessengerThread): MessengerThread {
    const known = this.#known();
    const move = this.#byNewChat.get(keyOf(messengerId, thread.chatId))?.move;
    if (known.size === 0 || move === undefined) return thread;
    const id = thread.id === move.to.threadId ? move.from.threadId : thread.id;
    return { ...thread, id, chatId: move.from.chatId };
  }

  /**
   * Returns the conversation that answered the new chat before the move was known. Undefined when it no longer matters.
   */
  twinOf(messengerId: string, { id }: MessengerThread): string | undefined {
    const alias = this.#known().get(keyOf(messengerId, id));
    if (alias?.hasTwin !== true || id !== alias.move.to.threadId) return undefined;
    if (this.#options.clock.now() - alias.learnedAt > KEPT_KEYS_MS) return undefined;
    return threadConversationName(messengerId, id);
  }

  #known(): Map<string, StoredAlias> {
    if (this.#byThread !== undefined) return this.#byThread;
    const known = new Map<string, StoredAlias>();
    for (const alias of this.#options.store.aliases()) this.#remember(known, alias);
    this.#byThread = known;
    return known;
  }

  #remember(known: Map<string, StoredAlias>, alias: StoredAlias): void {
    const { messengerId, move } = alias;
    known.set(keyOf(messengerId, move.from.threadId), alias);
    known.set(keyOf(messengerId, move.to.threadId), alias);
    this.#byNewChat.set(keyOf(messengerId, move.to.chatId), alias);
  }
}

function keyOf(messengerId: string, id: string): string {
  return JSON.stringify([messengerId, id]);
}
