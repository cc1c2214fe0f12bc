import type {
  Broadcast,
  BroadcastReceiptFilter,
  BroadcastReceiptPage,
  HandOver,
  HandOverResult,
  SubscriberFilter,
  SubscriberPage,
} from "../../broadcasts/broadcast.ts";
import type { NewBroadcast } from "../../broadcasts/broadcasts.ts";
import type { Address } from "../../core/surface.ts";

/** The calls about broadcasts that a root answers, to bot code in any object. */
export interface BroadcastCalls {
  startBroadcast(request: NewBroadcast): Promise<Broadcast>;
  getBroadcast(id: string): Promise<Broadcast | undefined>;
  listBroadcasts(limit: number): Promise<Broadcast[]>;
  broadcastReceipts(id: string, filter: BroadcastReceiptFilter): Promise<BroadcastReceiptPage>;
  cancelBroadcast(id: string): Promise<boolean>;
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
