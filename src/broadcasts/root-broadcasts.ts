import { parseSubscriberKey } from "./stored-broadcast.ts";
import type {
  Broadcast,
  BroadcastReceiptFilter,
  BroadcastReceiptPage,
  BroadcastWork,
  HandOver,
  HandOverResult,
  NewBroadcast,
  SubscriberFilter,
  SubscriberPage,
} from "../core/turn/broadcast.ts";
import { createBroadcastStore } from "./broadcast-store.ts";
import { Broadcasts } from "./broadcasts.ts";
import { createSubscriberStore } from "./subscriber-store.ts";
import type { SubscriberKey, SubscriberStore } from "./subscriber-store.ts";
import { checkContent } from "../core/message/check-content.ts";
import type { ChatMove } from "../core/chat/chat-move.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Address } from "../core/chat/surface.ts";
import type { DurableAlarm } from "../feature/durable-alarm.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { noteOf } from "../messengers/turns/note-parts.ts";
import { chatQuietUntil } from "../scheduled-runs/chat-quiet-hours.ts";
import type { QuietHoursMethods } from "../scheduled-runs/chat-quiet-hours.ts";
import { nudgeKeeper } from "../scheduled-runs/nudge-keeper.ts";
import { BROADCASTS } from "./broadcast-calls.ts";
import type { BroadcastCalls } from "./broadcast-calls.ts";

export interface RootBroadcastsOptions {
  readonly host: FeatureHost<QuietHoursMethods>;
  readonly alarm: DurableAlarm;
  /** Takes a message for a chat of this object's conversation. */
  readonly take: (request: HandOver) => Promise<HandOverResult>;
}

/** A slice that was cut by a crash continues after this time. */
const HEARTBEAT_MS = 45_000;
const MOST_LISTED = 1000;
const MOST_CALLS = 10;

/** Broadcasts and subscribers of a root, connected to its directories, its rate and its alarm. */
export class RootBroadcasts implements BroadcastCalls {
  /** For other parts of the root that write to many chats. */
  readonly broadcasts: Broadcasts;
  readonly #options: RootBroadcastsOptions;
  readonly #subscribers: SubscriberStore;
  #arming = Promise.resolve();

  constructor(options: RootBroadcastsOptions) {
    this.#options = options;
    const { host } = options;
    const { agent, database, deps, log } = host;
    this.#subscribers = createSubscriberStore(database);
    this.broadcasts = new Broadcasts({
      deps,
      log,
      store: createBroadcastStore(database),
      subscribers: this.#subscribers,
      chats: (filter) => host.directories.listChats(filter),
      placeOf: (target) => host.directories.places.placeOf(target),
      quietUntil: (address) => chatQuietUntil({ agent, log, clock: deps.clock }, address),
      pay: (address, work) => this.#pay(address, work),
      handOver: async (conversation, request) => {
        const result = await host.objects.to(BROADCASTS, conversation).takeBroadcast(request);
        this.#noteSent(request.address, result);
        return result;
      },
      wakeAt: (at) => this.#arm(at),
      onProgress: ({ run }) => {
        if (run !== undefined) host.later(() => void nudgeKeeper(host.objects, run, log));
      },
    });
  }

  /** Runs after every start. The process may have died during a slice, or before it could set the alarm. */
  resume(): void {
    if (this.broadcasts.hasWork()) this.#arm(this.#options.host.deps.clock.now());
  }

  /**
   * Called by the alarm. Resolves when the next alarm is set; the slice runs beside everything else, because it may take
   * long.
   */
  async onAlarm(later: (work: () => void) => void): Promise<void> {
    this.#arm(this.#options.host.deps.clock.now() + HEARTBEAT_MS);
    await this.#arming;
    later(() => void this.broadcasts.run());
  }

  moved(messengerId: string, move: ChatMove): void {
    this.#subscribers.move(messengerId, move);
  }

  takeBroadcast(request: HandOver): Promise<HandOverResult> {
    return this.#options.take(request);
  }

  async startBroadcast(request: NewBroadcast): Promise<Broadcast> {
    const started = await this.broadcasts.start(request);
    await this.#arming;
    return started;
  }

  async getBroadcast(id: string): Promise<Broadcast | undefined> {
    return this.broadcasts.get(id);
  }

  async listBroadcasts(limit: number): Promise<Broadcast[]> {
    return this.broadcasts.list(limit);
  }

  async broadcastReceipts(id: string, filter: BroadcastReceiptFilter): Promise<BroadcastReceiptPage> {
    return this.broadcasts.receipts(id, filter);
  }

  async cancelBroadcast(id: string): Promise<boolean> {
    const isCancelled = this.broadcasts.cancel(id);
    await this.#arming;
    return isCancelled;
  }

  async nudgeBroadcast(id: string, target: string): Promise<void> {
    this.broadcasts.nudge(id, target);
    await this.#arming;
  }

  async setSubscribed(address: Address, isSubscribed: boolean): Promise<boolean> {
    return isSubscribed
      ? this.#subscribers.add(address, this.#options.host.deps.clock.now())
      : this.#subscribers.remove(address);
  }

  /** Whether the bot can write to a chat that has subscribed. */
  async hasSubscribers(): Promise<boolean> {
    for (let after: SubscriberKey | undefined; ;) {
      const page = this.#subscribers.page(after, MOST_LISTED);
      if (page.some(({ address }) => !this.#isGone(address))) return true;
      after = page.at(-1)?.address;
      if (after === undefined) return false;
    }
  }

  #isGone({ chatId, messengerId }: Address): boolean {
    const found = this.#options.host.directories.places.placeOf({ messenger: messengerId, chatId });
    return found.kind === "refused" && (found.code === "chat-gone" || found.code === "window-closed");
  }

  async listSubscribers({ cursor, limit = 100 }: SubscriberFilter): Promise<SubscriberPage> {
    const most = Math.min(limit, MOST_LISTED);
    const after = cursor === undefined ? undefined : parseSubscriberKey(cursor);
    const found = this.#subscribers.page(after, most + 1);
    const subscribers = found.slice(0, most);
    const last = found.length > most ? subscribers.at(-1)?.address : undefined;
    if (last === undefined) return { subscribers };
    const { messengerId, threadId } = last;
    return { subscribers, cursor: JSON.stringify({ messengerId, threadId }) };
  }

  async #pay(address: Address, work: BroadcastWork): Promise<number | undefined> {
    const { chatId, messengerId } = address;
    // The answer to a prompt comes when the model has written it. Few prompts run at once, so they need no class.
    if (work.kind === "prompt") return undefined;
    const surface = this.#options.host.messengers.surface(messengerId);
    const { limits, pacing } = surface;
    const content = checkContent(work.content);
    const parts = Math.ceil(noteOf(content).length / limits.maxLength);
    const calls = Math.max(1, Math.min(parts, MOST_CALLS));
    const account = await surface.accountOf?.(address);
    return this.#options.host.budget.prepay({ messengerId, chatId, account, calls, rate: pacing.global });
  }

  /** After a crash each message is handed over again, so the root learns the ids that were not reported before it. */
  #noteSent(address: Address, result: HandOverResult): void {
    if (result.state !== "sent") return;
    const { chatId, messengerId } = address;
    const box = this.#options.host.messengers.surface(messengerId).probing?.box(address);
    if (box === undefined || box === chatId) return;
    this.#options.host.budget.noteSent(messengerId, box, result.messageIds.map(Number));
  }

  #arm(at: number | undefined): void {
    const arm = (): Promise<void> => this.#options.alarm.set(at);
    this.#arming = this.#arming.then(arm, arm);
    this.#arming.catch((error: unknown) => {
      this.#options.host.log.error("wake.failed", { code: failureCode(error) });
    });
  }
}
