import type { ChatGate } from "../../../src/core/gate.ts";
import type { Address, Surface } from "../../../src/core/surface.ts";
import type { Database } from "../../../src/core/database.ts";
import type { Delivery, DeliveryMode, DeliveryPolicy } from "../../../src/core/delivery.ts";
import type { Clock } from "../../../src/core/deps.ts";
import type { MessengerEvent } from "../../../src/core/messenger-event.ts";

/** A deliberate defect, put around a part of the product: the simulation must find it. */
export interface Mutant {
  readonly name: string;
  /** What a programmer would have done wrong. */
  readonly what: string;
  readonly threadDatabase?: (database: Database) => Database;
  readonly rootDatabase?: (database: Database) => Database;
  readonly gateDatabase?: (database: Database) => Database;
  readonly gate?: (gate: ChatGate) => ChatGate;
  /** The gate as a conversation sees it. */
  readonly gateClient?: (
    gate: ChatGate,
    process: { readonly clock: Clock; readonly memory: Map<string, number> },
  ) => ChatGate;
  readonly surface?: (surface: Surface) => Surface;
  /** Changes what a delivery does, below of what is watched. */
  readonly delivery?: (
    delivery: Delivery,
    parts: { readonly gateOf: (address: Address) => ChatGate; readonly clock: Clock },
  ) => void;
  /** Changes what a delivery is told, above of what is watched. */
  readonly saying?: (delivery: Delivery) => void;
  /** What the messenger is set up with, in place of what was asked for. */
  readonly policy?: DeliveryPolicy;
  /** What is read of an update. */
  readonly event?: (event: MessengerEvent) => MessengerEvent;
  readonly beforeStep?: () => "go" | "yield";
  readonly beforeTool?: () => "run" | "block";
  /** A file that cannot be loaded fails the call of the model. */
  readonly isFileVital?: boolean;
  /** The mode in which the engine works, in place of the one that was asked for. */
  readonly mode?: (mode: DeliveryMode) => DeliveryMode;
  /** What a start of a thread's object does to its storage. */
  readonly onThreadStart?: (database: Database) => void;
  /** The identity of a message, in place of chat and message id. */
  readonly eventKey?: (updateId: number) => string;
}
