import type { Database } from "../../src/core/database.ts";
import type { ReplyState } from "../../src/core/delivery.ts";
import type { Deps } from "../../src/core/deps.ts";
import { placeFields } from "../../src/core/log-fields.ts";
import type { Log } from "../../src/core/log.ts";
import type { Address, CallFailure, OutgoingMedia, Surface } from "../../src/core/surface.ts";
import type { OutgoingFiles } from "../files/outgoing-files.ts";
import { callWithin } from "./call-within.ts";
import type { CallMethod } from "./call-policy.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { OutboxStore } from "../outbox/outbox-store.ts";
import type { Reply } from "../outbox/reply.ts";
import type { RichFallback } from "../outbox/rich-fallback.ts";
import type { MessengerAccess } from "./messenger-access.ts";
import type { GateClient } from "../budget/gate-client.ts";

/** The objects and callbacks that the parts of one engine share. */
export interface DeliveryContext {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly budget: GateClient;
  readonly outbox: OutboxStore;
  readonly files: OutgoingFiles;
  readonly rich: RichFallback;
  readonly access: MessengerAccess;
  readonly surfaceFor: (messengerId: string) => Surface;
  /** Stores that a reply has ended, and resolves its waiting callers. Does nothing if it has already ended. */
  readonly endReply: (reply: Reply, state: ReplyState, code: string | undefined) => void;
  /** Ends all replies of a chat, or of one thread, that accepts nothing any more. */
  readonly endPlace: (address: Address, failure: CallFailure) => void;
  /** Moves all replies of a chat that continues under another id. */
  readonly movePlace: (address: Address, failure: Extract<CallFailure, { kind: "moved" }>) => void;
  /**
   * Makes messages that a card no longer needs be edited, because the platform does not remove them. Returns false if
   * there is nothing to change.
   */
  readonly lockCard: (reply: Reply) => boolean;
  /** Stores another form for a reply's files, because the platform refused the first. */
  readonly reshapeFiles: (reply: Reply, files: readonly OutgoingMedia[]) => void;
  /** Continues a reply without its quote, because the message cannot be quoted. */
  readonly unquote: (reply: Reply) => void;
  /** Returns the reply with this id, if it is in memory. */
  readonly reply: (replyId: string) => Reply | undefined;
  /** Stores a streaming reply's text so far. Called before a message shows text that can never be changed. */
  readonly keepText: (reply: Reply) => void;
  /** Tells whether another message of the chat is in doubt. Nothing is posted then. */
  readonly hasOtherDoubt: (entry: OutboxEntry | undefined, address: Address) => boolean;
  /** Notes that the outcome of a post is known, so other posts of the chat may continue. */
  readonly doubtEnded: (address: Address) => void;
  /** Makes the reply look at its messages again, after late news about one of them. */
  readonly revisit: (replyId: string) => void;
}

/** Time limit for a call to a gate. A gate answers at once or not at all. */
export const GATE_TIMEOUT_MS = 5_000;

export const TIMED_OUT: CallFailure = { kind: "unknown", code: "timed-out" };

/** Returns the failure class of an error that a surface threw, even if the surface's own classification throws. */
export function classify(surface: Surface, error: unknown): CallFailure {
  try {
    return surface.classifyError(error);
  } catch {
    return { kind: "unknown", code: "unclassified" };
  }
}

/** Returns the failure for an outcome without a result. */
export function failureOf(
  surface: Surface,
  outcome: { readonly kind: "failed"; readonly error: unknown } | { readonly kind: "timed-out" },
): CallFailure {
  return outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
}

/** Logs one line for a failed call: its kind and its failure, never its content (I10). */
export function logFailure(
  context: Pick<DeliveryContext, "log">,
  call: {
    method: CallMethod;
    address: Address;
    replyId?: string;
    part?: number;
    attempts: number;
  },
  failure: CallFailure,
): void {
  context.log.warn("delivery.call-failed", {
    method: call.method,
    kind: failure.kind,
    code: failure.code,
    attempts: call.attempts,
    ...placeFields(call.address),
    turn: call.replyId,
    part: call.part,
    retryAfterMs: failure.kind === "retry-after" ? failure.retryAfterMs : undefined,
  });
}

/** Reports a penalty to the chat's gate. If the gate cannot be reached, this object still obeys the penalty. */
export async function penalize(
  context: Pick<DeliveryContext, "budget" | "deps" | "log">,
  address: Address,
  retryAfterMs: number,
): Promise<void> {
  const outcome = await callWithin(context.deps.clock, GATE_TIMEOUT_MS, () =>
    context.budget.penalize(address, retryAfterMs),
  );
  if (outcome.kind !== "done") {
    context.log.warn("delivery.penalty-not-stored", { ...placeFields(address), retryAfterMs });
  }
}
