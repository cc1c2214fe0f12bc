import type { HandOver, HandOverResult } from "../../../src/core/turn/broadcast.ts";
import { createBroadcastStore } from "../../../src/broadcasts/broadcast-store.ts";
import { Broadcasts } from "../../../src/broadcasts/broadcasts.ts";
import { createSubscriberStore } from "../../../src/broadcasts/subscriber-store.ts";
import type { SubscriberStore } from "../../../src/broadcasts/subscriber-store.ts";
import type { ChatEntry } from "../../../src/core/chat/chat.ts";
import { wait } from "../../../src/core/base/deps.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { ProcessClock, VirtualClock } from "../../support/virtual-clock.ts";

export const chatAddress = (chatId: string): Address => ({
  messengerId: "fake",
  threadId: `fake:${chatId}`,
  chatId,
  isDirectMessage: true,
});

/** What happens to one call to the object of a chat. */
export type Fate =
  /** The message is sent, and the root learns it. */
  | "sent"
  /** The object has stored the message, and the answer to the root is lost. */
  | "answer-lost"
  /** The object cannot be reached. */
  | "unreachable"
  /** The message is on its way for a while. */
  | "slow"
  /** Somebody is asked about an action, for days. */
  | "deciding"
  | "blocked";

interface Stored {
  /** The answer before `doneAt`. */
  readonly meanwhile: HandOverResult;
  readonly result: HandOverResult;
  readonly doneAt: number;
}

/** The root's broadcasts over objects that keep their word: a message of a broadcast is posted once. */
export class BroadcastWorld {
  readonly clock: VirtualClock = createVirtualClock();
  readonly calls: HandOver[] = [];
  readonly subscribers: SubscriberStore;
  /** The directory of chats. */
  chats: string[] = [];
  gone = new Set<string>();
  fateOf: (chatId: string) => Fate = () => "sent";
  /** Called before each call to an object. */
  onCall: () => void = () => {};
  /** Called before each durable write of the root. */
  onWrite: () => void = () => {};
  /** Ends of chats' quiet hours, in epoch milliseconds. */
  quiet = new Map<string, number>();
  /** Objects that have the message answer after this time. */
  answerAfterMs = 0;
  /** Chats in which somebody has decided early. */
  readonly decidedIn = new Set<string>();
  payAt: (chatId: string) => number | undefined = () => undefined;
  broadcasts: Broadcasts;
  /** Called after each slice. */
  onProgress: () => void = () => {};
  mostAtOnce = 0;
  readonly #database = createNodeDatabase();
  /** Messages that objects have stored, by object, broadcast and thread. */
  readonly #stored = new Map<string, Stored>();
  readonly #posts = new Map<string, number>();
  #alarmAt: number | undefined;
  #process: ProcessClock;
  #atOnce = 0;
  #life = 0;

  constructor() {
    this.subscribers = createSubscriberStore(this.#database);
    this.#process = this.clock.process();
    this.broadcasts = this.#boot();
  }

  posts(chatId: string): number {
    return this.#posts.get(chatId) ?? 0;
  }

  get totalPosts(): number {
    return [...this.#posts.values()].reduce((sum, posts) => sum + posts, 0);
  }

  /** The process of the root dies. Calls that are under way reach their object, and nobody hears the answer. */
  kill(): void {
    this.#process.kill();
    this.#life += 1;
    this.#atOnce = 0;
    this.#process = this.clock.process();
    this.broadcasts = this.#boot();
  }

  /** Fires alarms until there are none, at most `runs`. */
  async run(runs = 10_000): Promise<void> {
    for (let run = 0; run < runs && this.#alarmAt !== undefined; run += 1) {
      const inMs = Math.max(0, this.#alarmAt - this.clock.now());
      await this.clock.advance(inMs);
      this.#alarmAt = undefined;
      let isDone = false;
      void this.broadcasts.run().then(() => (isDone = true));
      const life = this.#life;
      await this.clock.advanceUntil(() => isDone || this.#life !== life, 120_000).catch(() => undefined);
    }
  }

  #boot(): Broadcasts {
    const life = this.#life;
    const isAlive = (): boolean => this.#life === life;
    // A process that was killed writes nothing, and hears no answer.
    const database = this.#database.withHooks({
      beforeWrite: () => {
        this.onWrite();
        if (!isAlive()) throw new Error("killed");
      },
    });
    return new Broadcasts({
      deps: { clock: this.#process, newId: () => `id-${this.clock.now()}` },
      log: recordLog().log,
      store: createBroadcastStore(database),
      subscribers: createSubscriberStore(database),
      chats: ({ cursor, limit = 100 }) => {
        const from = cursor === undefined ? 0 : this.chats.findIndex((chat) => chat > cursor);
        const page = from === -1 ? [] : this.chats.slice(from, from + limit);
        const last = from + limit < this.chats.length ? page.at(-1) : undefined;
        return { chats: page.map(entryOf), ...(last !== undefined && { cursor: last }) };
      },
      // The conversation of a chat may change at any time.
      placeOf: (target) => {
        const { chatId = "" } = target as { readonly chatId?: string };
        if (this.gone.has(chatId)) return { kind: "refused", code: "chat-gone" };
        const address = chatAddress(chatId);
        const conversation = `${chatId} at ${this.clock.now()}`;
        return { kind: "found", address, conversation, key: address.threadId };
      },
      quietUntil: async ({ chatId }) => {
        const until = this.quiet.get(chatId) ?? 0;
        return until > this.clock.now() ? until : undefined;
      },
      pay: async ({ chatId }) => this.payAt(chatId),
      handOver: (conversation, request) => {
        const never = new Promise<never>(() => {});
        if (!isAlive()) return never;
        this.onCall();
        const answer = this.#object(conversation, request);
        answer.catch(() => {
          // A killed process does not hear it.
        });
        return isAlive() ? answer : never;
      },
      wakeAt: (at) => {
        if (isAlive()) this.#alarmAt = at;
      },
      onProgress: () => this.onProgress(),
    });
  }

  async #object(conversation: string, request: HandOver): Promise<HandOverResult> {
    this.calls.push(request);
    const { address, broadcastId, notAfter } = request;
    const now = this.clock.now();
    const key = JSON.stringify([conversation, broadcastId, address.threadId]);
    const known = this.#stored.get(key);
    if (known !== undefined && this.answerAfterMs > 0) await wait(this.clock, this.answerAfterMs);
    const isDone = now >= (known?.doneAt ?? 0) || this.decidedIn.has(address.chatId);
    if (known !== undefined) return isDone ? known.result : known.meanwhile;
    const fate = this.fateOf(address.chatId);
    if (fate === "unreachable") throw new Error("unreachable");
    if (now > notAfter) return { state: "skipped", code: "expired" };
    const result: HandOverResult =
      fate === "blocked"
        ? { state: "failed", code: "bot-blocked" }
        : { state: "sent", deliveryId: `d-${address.chatId}`, messageIds: [`m-${address.chatId}`] };
    const doneAt = now + (fate === "slow" ? 12_000 : fate === "deciding" ? 2 * 86_400_000 : 0);
    const meanwhile: HandOverResult = { state: "waiting", isDeciding: fate === "deciding" };
    this.#stored.set(key, { meanwhile, result, doneAt });
    if (fate !== "blocked") this.#posts.set(address.chatId, this.posts(address.chatId) + 1);
    if (fate === "answer-lost") throw new Error("the connection was lost");
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    await Promise.resolve();
    this.#atOnce -= 1;
    return now < doneAt ? meanwhile : result;
  }
}

function entryOf(chatId: string): ChatEntry {
  return { messengerId: "fake", chatId, aliases: [], kind: "private", topics: [], lastSeenAt: 0 };
}
