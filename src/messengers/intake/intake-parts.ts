import type { Database } from "../../core/store/database.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { EventContexts } from "../declare/event-contexts.ts";
import type { Answers } from "../replies/answers.ts";
import type { Cards } from "../replies/cards.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import type { ChatGates } from "../root/chats/chat-gates.ts";
import type { RootLink } from "../root/root-link.ts";
import type { BotHandlers } from "./bot-handlers.ts";
import type { Loop } from "./loop.ts";
import type { OpenQuestions } from "./open-questions.ts";

/** The parts of a conversation that decide about its events. */
export interface IntakeParts {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly memory: ThreadMemory;
  readonly delivery: Delivery;
  readonly cards: Cards;
  readonly messengers: DeclaredMessengers;
  readonly gates: ChatGates;
  /** The root counts a person's questions in all conversations. It counts this one if it is allowed. */
  readonly root: Pick<RootLink, "takeQuestion" | "routeEvent" | "handOver">;
  readonly bot: BotHandlers;
  readonly answers: Answers;
  /** @default nobody is asked anything, and no word is for a card */
  readonly questions?: OpenQuestions | undefined;
  readonly contexts: EventContexts;
  readonly loop: Loop;
}
