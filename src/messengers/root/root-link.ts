import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { ChatTarget, Resolution } from "../../core/chat/chat-target.ts";
import type { BroadcastTarget, PlacedTarget } from "../../core/turn/broadcast.ts";
import type { ChatGate } from "../../core/chat/gate.ts";
import type { CallGroup } from "../../core/chat/inner-calls.ts";
import type { BotIdentity, IncomingEvent } from "../../core/chat/messenger.ts";
import type { BotFileIds } from "../../../delivery/index.ts";
import type { UsedTokens } from "../../core/turn/used-tokens.ts";
import type { AskedQuestion } from "./turn-limits.ts";

/** The result of routing an event again. */
export type RouteResult =
  | { readonly kind: "delivered" }
  /** No conversation answers it: the object of the thread keeps it. */
  | { readonly kind: "not-answered" }
  /** The conversation cannot be determined now. */
  | { readonly kind: "unresolved"; readonly code: string };

/** The calls from a conversation to its root. */
export interface RootCalls extends BotFileIds {
  /** Reports a chat that continues under another id, as a refused call has shown. */
  chatMoved(messengerId: string, move: ChatMove): Promise<void>;
  identity(messengerId: string): Promise<BotIdentity>;
  /** Returns whether a person may ask for one more answer, and counts it. */
  takeQuestion(asked: AskedQuestion): Promise<boolean>;
  /**
   * Reports that the platform has refused the messenger's credentials with this code, or accepts them again
   * (`undefined`).
   */
  reportAccess(messengerId: string, refusedWith: string | undefined): Promise<void>;
  /**
   * A call to a chat was refused: the bot cannot write there any more.
   *
   * @param at time of the refusal, in epoch milliseconds
   */
  chatGone(messengerId: string, chatId: string, code: string, at: number): Promise<void>;
  /** Reports the tokens of a turn, which the root keeps for this long. A report that comes again counts once. */
  noteUsage(used: UsedTokens, keepMs: number): Promise<void>;
  /**
   * From the object of a thread: an event whose conversation was unknown at its webhook. The root passes it to the
   * conversation that the bot's `conversation` function names.
   */
  routeEvent(messengerId: string, event: IncomingEvent): Promise<RouteResult>;
  /** Looks for the address of a target in the root's directories. */
  resolveTarget(to: ChatTarget): Promise<Resolution>;
  /** Finds the address of a target, and the conversation that remembers what is said there. */
  locateTarget(to: BroadcastTarget): Promise<PlacedTarget>;
}

export const ROOT: CallGroup<RootCalls> = { name: "root" };

/** The calls from the root and from other conversations to a conversation. */
export interface ThreadCalls {
  /** Resolves when the events are durable there. */
  receiveEvents(messengerId: string, events: readonly IncomingEvent[]): Promise<void>;
  hasEvent(messengerId: string, key: string): Promise<boolean>;
}

export const THREAD: CallGroup<ThreadCalls> = { name: "thread" };

/** The calls that a conversation's object makes. They go to another object, unless this one is the root itself. */
export interface RootLink extends RootCalls {
  /** Returns the gate of the chats whose thread without a topic is this conversation. */
  gate(conversation: string): ChatGate;
  /** Stores an event in another object of the bot, by the object's name. Resolves when it is durable there. */
  handOver(name: string, messengerId: string, event: IncomingEvent): Promise<void>;
}
