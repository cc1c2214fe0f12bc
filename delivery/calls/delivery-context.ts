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
import type { GateClient } from "../budget/gate-client.ts";

/** What the parts of one engine share. */
export interface DeliveryContext {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly budget: GateClient;
  readonly outbox: OutboxStore;
  readonly files: OutgoingFiles;
  readonly surfaceFor: (messengerId: string) => Surface;
  /** Stores that a reply has ended, and tells who waits for it. Nothing when it has ended already. */
  readonly endReply: (reply: Reply, state: ReplyState, code: string | undefined) => void;
  /** The chat, or just the thread, takes nothing any more: ends all its replies. */
  readonly endPlace: (address: Address, failure: CallFailure) => void;
  /** The chat goes on under another id: so do all its replies. */
  readonly movePlace: (address: Address, failure: Extract<CallFailure, { kind: "moved" }>) => void;
  /** The platform does not take the reply as a rich message: it goes on as ordinary ones. */
  readonly refuseRich: (reply: Reply, failure: CallFailure) => void;
  /** A rich call failed in a way that may mean the same: after two of them the reply goes on as ordinary messages. */
  readonly doubtRich: (reply: Reply, failure: CallFailure) => void;
  /** The platform does not remove a card's messages any more: they are edited instead. */
  readonly lockRemoved: (reply: Reply) => void;
  /** The platform does not take the files in this form: they go out in another one. */
  readonly reshapeFiles: (reply: Reply, files: readonly OutgoingMedia[]) => void;
  /** The message that the reply answers cannot be quoted: it goes on without that. */
  readonly unquote: (reply: Reply) => void;
  /** The reply in memory that has this id. */
  readonly reply: (replyId: string) => Reply | undefined;
  /** Stores a streaming reply's text so far, before a message shows some of it that can never be changed. */
  readonly keepText: (reply: Reply) => void;
  /** Tells the owner that the messenger's calls cannot succeed; once, until one has. */
  readonly misconfigured: (address: Address, code: string) => void;
  /** A call has succeeded. */
  readonly configured: (address: Address) => void;
  /** Whether another message of the chat may exist of which the id is not known: nothing is posted then. */
  readonly hasOtherDoubt: (entry: OutboxEntry | undefined, address: Address) => boolean;
  /** It is known what became of a post: others of the chat may go on. */
  readonly doubtEnded: (address: Address) => void;
  /** Late news about a message: whoever owns it now looks at it again. */
  readonly revisit: (replyId: string) => void;
}

/** A gate answers at once or not at all. */
export const GATE_TIMEOUT_MS = 5_000;

export const TIMED_OUT: CallFailure = { kind: "unknown", code: "timed-out" };

/** The class of anything that a surface threw, also when its own classification breaks. */
export function classify(surface: Surface, error: unknown): CallFailure {
  try {
    return surface.classifyError(error);
  } catch {
    return { kind: "unknown", code: "unclassified" };
  }
}

/** What an outcome without a result means. */
export function failureOf(
  surface: Surface,
  outcome: { readonly kind: "failed"; readonly error: unknown } | { readonly kind: "timed-out" },
): CallFailure {
  return outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
}

/** One line for a failed call: what it was and how it failed, never what it said (I10). */
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

/** Tells the chat's gate of a penalty. When the gate cannot be told, the caller still keeps it for itself. */
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
