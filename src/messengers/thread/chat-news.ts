import type { ChatListener } from "../../core/chat/chat-listener.ts";
import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { GonePlace } from "../../core/chat/delivery.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { UnsentFile } from "../../core/message/unsent-file.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import type { Loop } from "../intake/loop.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import type { UnsentFiles } from "../replies/unsent-files.ts";
import type { TurnEndings } from "../turns/turn-endings.ts";
import type { PromptStore } from "../../inbox/prompt-store.ts";
import type { OwnTurns } from "./own-turns.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";

interface ChatNewsParts extends ThreadRuntimeOptions {
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly prompts: PromptStore;
  readonly memory: ThreadMemory;
  readonly loop: Loop;
  readonly unsent: UnsentFiles;
}

/**
 * The reactions of a conversation when its delivery finds that a chat has moved, is gone, or refuses the bot or a file.
 * A note tells the model of a refused file.
 */
export class ChatNews implements ChatListener {
  readonly #options: ChatNewsParts;
  #endings: Pick<TurnEndings, "abandon"> | undefined;
  #own: Pick<OwnTurns, "chatMoved"> | undefined;

  constructor(options: ChatNewsParts) {
    this.#options = options;
  }

  /** Takes the parts that know and end turns, which send through the delivery. Called once, before the loop runs. */
  start(endings: Pick<TurnEndings, "abandon">, own: Pick<OwnTurns, "chatMoved">): void {
    this.#endings = endings;
    this.#own = own;
  }

  chatMoved(messengerId: string, move: ChatMove): void {
    const { inbox, log, loop, memory, prompts, turns } = this.#options;
    inbox.move(messengerId, move);
    turns.move(messengerId, move);
    prompts.move(messengerId, move);
    this.#own?.chatMoved();
    memory.moveThread(move.from.threadId, move.to.threadId);
    memory.keepUntold({ kind: "moved", messengerId, move });
    log.info("chat.moved", {
      messenger: messengerId,
      chat: move.from.chatId,
      toChat: move.to.chatId,
    });
    // Runs after the current transaction, and is stored together with it.
    void Promise.resolve()
      .then(() => this.#options.features?.conversationMoved(messengerId, move))
      .catch((error: unknown) => log.error("chat.cards-not-moved", { code: failureCode(error) }))
      .finally(() => loop.poke());
  }

  chatGone(place: GonePlace, code: string): void {
    const { deps, features, log, loop, memory } = this.#options;
    const { chatId, messengerId, threadId } = place;
    log.warn("chat.gone", { messenger: messengerId, chat: chatId, thread: threadId, code });
    // A topic that is gone says nothing about its chat.
    if (threadId === undefined)
      memory.keepUntold({ kind: "gone", messengerId, chatId, code, at: deps.clock.now() });
    this.#endings?.abandon(place);
    features?.chatGone(place);
    loop.poke();
  }

  fileRefused(messengerId: string, replyId: string, file: UnsentFile): string {
    const { deps, unsent } = this.#options;
    const text = unsent.textOf(messengerId, file);
    unsent.note(`${replyId}:${deps.newId()}`, text);
    return text;
  }

  accessChanged(messengerId: string, refusedWith: string | undefined): void {
    const { log, root } = this.#options;
    root.reportAccess(messengerId, refusedWith).catch((error: unknown) => {
      // Reported again with the next refused call.
      log.warn("access.not-reported", { code: failureCode(error) });
    });
  }
}
