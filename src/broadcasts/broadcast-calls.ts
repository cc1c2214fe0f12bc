import type { CallGroup } from "../core/chat/inner-calls.ts";
import type {
  Broadcast,
  HandOver,
  ManyChatsSender,
  HandOverResult,
  SubscriberFilter,
  SubscriberPage,
} from "../core/turn/broadcast.ts";
import type { Address } from "../core/chat/surface.ts";

/** The calls about broadcasts between objects: to the root, from bot code in any object, and to conversations. */
export interface BroadcastCalls extends ManyChatsSender, TakesBroadcasts {
  listBroadcasts(limit: number): Promise<Broadcast[]>;
  /** Something about one target has changed in its conversation. */
  nudgeBroadcast(id: string, target: string): Promise<void>;
  /** Returns whether that changed anything. */
  setSubscribed(address: Address, isSubscribed: boolean): Promise<boolean>;
  listSubscribers(filter: SubscriberFilter): Promise<SubscriberPage>;
}

/** The call of a root to the object of a conversation. */
export interface TakesBroadcasts {
  /** Takes one message of a broadcast. May be repeated. */
  takeBroadcast(request: HandOver): Promise<HandOverResult>;
}

export const BROADCASTS: CallGroup<BroadcastCalls> = { name: "broadcasts" };
