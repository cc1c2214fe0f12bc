import type { ThinkActions } from "../../../src/actions/declare/action.ts";
import type { BotObject } from "../../../src/agent/bot-object.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import type { Address, Surface } from "../../../src/core/chat/surface.ts";
import type { Database } from "../../../src/core/store/database.ts";
import type { Delivery, DeliveryPolicy } from "../../../src/core/chat/delivery.ts";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import type { CardPress, PressAnswer } from "../../../src/core/chat/card-press.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";

export type OnAction = (press: CardPress) => PressAnswer | Promise<PressAnswer>;

/** A deliberate defect, put around a part of the product: the simulation must find it. */
export interface Mutant {
  readonly name: string;
  /** The mistake of a programmer, in words. */
  readonly what: string;
  /** Kind of the plan items without which a run cannot show it. @default it may show in any run */
  readonly needs?: string;
  readonly threadDatabase?: (database: Database) => Database;
  readonly rootDatabase?: (database: Database) => Database;
  readonly scheduleDatabase?: (database: Database) => Database;
  /** Changes the storage of the scheduled tasks at the start of their process. */
  readonly onScheduleStart?: (database: Database) => void;
  readonly gateDatabase?: (database: Database) => Database;
  readonly gate?: (gate: ChatGate) => ChatGate;
  /** The gate as a conversation sees it. */
  readonly gateClient?: (
    gate: ChatGate,
    process: { readonly clock: Clock; readonly memory: Map<string, number> },
  ) => ChatGate;
  readonly surface?: (surface: Surface) => Surface;
  /** Changes a delivery below the oracle, which sees the original calls. */
  readonly delivery?: (
    delivery: Delivery,
    parts: { readonly gateOf: (address: Address) => ChatGate; readonly clock: Clock },
  ) => void;
  /** Changes the calls to a delivery above the oracle, which sees the changed ones. */
  readonly saying?: (delivery: Delivery) => void;
  /** The bot's handler of presses, as it is called. */
  readonly onAction?: (handler: OnAction, clock: Clock) => OnAction;
  /** Changes what one object tells another one. */
  readonly innerCall?: (method: string, args: readonly unknown[]) => readonly unknown[];
  /** How an event is stored in another object. */
  readonly handOver?: () => Promise<void>;
  /** Replaces the delivery policy of the plan. */
  readonly policy?: DeliveryPolicy;
  /** Changes the event that is read from an update. */
  readonly event?: (event: MessengerEvent) => MessengerEvent;
  /** Changes the bot's actions. */
  readonly actions?: (actions: ThinkActions) => ThinkActions;
  /** Changes an object at the start of its process. */
  readonly object?: (object: BotObject) => void;
  readonly beforeStep?: () => "go" | "yield";
  readonly beforeTool?: () => "run" | "block";
  /** A file that cannot be loaded fails the call of the model. */
  readonly isFileVital?: boolean;
  /** Replaces the mode of the engine. */
  readonly mode?: (mode: DeliveryMode) => DeliveryMode;
  /** Changes the storage of a thread's object at its start. */
  readonly onThreadStart?: (database: Database) => void;
  /** Replaces the key of a message, which is otherwise chat and message id. */
  readonly eventKey?: (updateId: number) => string;
}
