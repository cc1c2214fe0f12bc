import type { Database } from "../../core/store/database.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { TurnOperations } from "../../turn/tools/turn-operations.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import type { Prompts } from "./prompts.ts";
import type { TurnAttachments } from "./turn-attachments.ts";
import type { TurnConsent } from "./turn-consent.ts";
import type { TurnResponses } from "./turn-responses.ts";

/** The parts of a conversation that its turns work with. */
export interface TurnParts {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly prompts: Prompts;
  readonly notes: NoteStore;
  readonly memory: ThreadMemory;
  readonly delivery: Delivery;
  readonly engine: TurnOperations;
  readonly messengers: Pick<DeclaredMessengers, "get" | "isDeclared">;
  /** @default a bot that transcribes no audio files */
  readonly bot?: { transcribes?(): boolean };
  readonly responses: TurnResponses;
  readonly attachments: Pick<TurnAttachments, "prepare" | "post">;
  /** People's consent to actions for which turns have asked. @default nobody is asked */
  readonly consent?: TurnConsent | undefined;
}
