import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { CommandEntry, IncomingEvent } from "../../core/chat/messenger.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { BotObjects } from "./bot-objects.ts";
import type { ChatAliases } from "./chats/chat-aliases.ts";
import type { ChatDirectory } from "./chats/chat-directory.ts";
import type { ConversationClasses } from "./conversation-classes.ts";
import type { RootStore } from "./root-store.ts";

export interface RootRuntimeOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly messengers: DeclaredMessengers;
  readonly objects: Pick<BotObjects, "rootClass" | "to">;
  /** Returns the commands for the menu. May throw, because it calls the bot's code. */
  readonly commands: () => readonly CommandEntry[];
  /** Runs work in the background. */
  readonly later: (work: () => Promise<void>) => void;
  /** Called when a chat continues under another id. */
  readonly onMoved?: (messengerId: string, move: ChatMove) => void;
  /** Notes the ids of incoming messages. Never throws. */
  readonly observe: RootBudget["noteIncoming"];
  /** Stores events in the inbox of the object at this address. Resolves when they are durable. */
  readonly deliver: (
    conversation: string,
    messengerId: string,
    events: readonly IncomingEvent[],
  ) => Promise<void>;
  readonly hasEvent: (conversation: string, messengerId: string, key: string) => Promise<boolean>;
}

/** The parts of the root that find the conversations of chats. */
export interface RootParts extends RootRuntimeOptions {
  readonly store: RootStore;
  readonly aliases: ChatAliases;
  readonly chats: ChatDirectory;
  readonly classes: ConversationClasses;
}
