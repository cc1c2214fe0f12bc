import { z } from "zod";
import type { UsedTokens } from "../../core/turn/used-tokens.ts";
import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { Database } from "../../core/store/database.ts";
import { createThreadMemoryStore } from "./thread-memory-store.ts";

/** Small facts that a conversation remembers: its session, who was refused, which threads it listens to. */
export interface ThreadMemory {
  session(): string;
  /** Starts a new session. Later turns begin with an empty transcript; earlier messages stay stored. */
  openSession(id: string): void;
  isSubscribed(threadId: string): boolean;
  subscribe(threadId: string): void;
  /** Returns true the first time since this person was within the limits. */
  reportLimitOnce(messengerId: string, userId: string): boolean;
  /** Records that the person is within the limits again. */
  endLimit(messengerId: string, userId: string): void;
  /** Returns true only the first time for this person. */
  refuseOnce(messengerId: string, userId: string): boolean;
  /** Whether a person was refused before. */
  wasRefused(messengerId: string, userId: string): boolean;
  /** Returns true the first time since the inbox of this thread had room. */
  reportFullOnce(threadId: string): boolean;
  endFull(threadId: string): void;
  /** Returns true the first time since an event of this thread could be read. */
  reportGivenUpOnce(threadId: string): boolean;
  endGivenUp(threadId: string): void;
  /** Moves all facts about a thread to the thread that replaces it. */
  moveThread(from: string, to: string): void;
  /** News of chats that the root has to hear. */
  untold(): readonly Untold[];
  keepUntold(news: Untold): void;
  forgetUntold(news: Untold): void;
}

/** A fact that the root does not know yet: about a chat, as a refused call has shown, or the tokens of a turn. */
export type Untold =
  | { readonly kind: "moved"; readonly messengerId: string; readonly move: ChatMove }
  | {
      readonly kind: "gone";
      readonly messengerId: string;
      readonly chatId: string;
      readonly code: string;
      /** Epoch milliseconds. */
      readonly at: number;
    }
  | { readonly kind: "used"; readonly used: UsedTokens; readonly keepMs: number };

const chatMove = z.object({
  from: z.object({ chatId: z.string(), threadId: z.string() }),
  to: z.object({ chatId: z.string(), threadId: z.string() }),
});
const usedTokens = z.object({
  turnId: z.string(),
  messengerId: z.string(),
  chatId: z.string(),
  userId: z.string(),
  at: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cost: z.number(),
});
const untoldNews = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("moved"), messengerId: z.string(), move: chatMove }),
  z.object({
    kind: z.literal("gone"),
    messengerId: z.string(),
    chatId: z.string(),
    code: z.string(),
    at: z.number(),
  }),
  z.object({ kind: z.literal("used"), used: usedTokens, keepMs: z.number() }),
]);

const OF_A_THREAD = ["subscribed", "full", "given-up"] as const;

export function createThreadMemory(database: Database): ThreadMemory {
  const store = createThreadMemoryStore(database);
  const cache = new Map<string, string | undefined>();
  const get = (key: string): string | undefined => {
    if (!cache.has(key)) cache.set(key, store.read(key));
    return cache.get(key);
  };
  const set = (key: string, value: string): void => {
    cache.set(key, value);
    store.write(key, value);
  };
  const once = (key: string): boolean => {
    if (get(key) !== undefined) return false;
    set(key, "1");
    return true;
  };

  const forget = (key: string): void => {
    if (get(key) === undefined) return;
    cache.set(key, undefined);
    store.remove(key);
  };

  let untold: Map<string, Untold> | undefined;
  const untoldByKey = (): Map<string, Untold> => {
    untold ??= new Map(
      [...store.list("moved"), ...store.list("gone"), ...store.list("used")].map(({ key, value }) => {
        const kind = key.slice(0, key.indexOf(":"));
        return [key, untoldNews.parse({ kind, ...(JSON.parse(value) as object) })];
      }),
    );
    return untold;
  };

  return {
    session: () => get("session") ?? "",
    openSession: (id) => set("session", id),
    isSubscribed: (threadId) => get(`subscribed:${threadId}`) !== undefined,
    subscribe(threadId) {
      once(`subscribed:${threadId}`);
    },
    reportLimitOnce: (messengerId, userId) => once(`limit:${messengerId}:${userId}`),
    endLimit: (messengerId, userId) => forget(`limit:${messengerId}:${userId}`),
    refuseOnce: (messengerId, userId) => once(`refused:${messengerId}:${userId}`),
    wasRefused: (messengerId, userId) => get(`refused:${messengerId}:${userId}`) !== undefined,
    reportFullOnce: (threadId) => once(`full:${threadId}`),
    endFull: (threadId) => forget(`full:${threadId}`),
    reportGivenUpOnce: (threadId) => once(`given-up:${threadId}`),
    endGivenUp: (threadId) => forget(`given-up:${threadId}`),
    moveThread(from, to) {
      for (const what of OF_A_THREAD) {
        if (get(`${what}:${from}`) !== undefined) once(`${what}:${to}`);
        forget(`${what}:${from}`);
      }
    },
    untold: () => [...untoldByKey().values()],
    keepUntold(news) {
      set(keyOf(news), JSON.stringify(news));
      untoldByKey().set(keyOf(news), news);
    },
    forgetUntold(news) {
      forget(keyOf(news));
      untoldByKey().delete(keyOf(news));
    },
  };
}

function keyOf(news: Untold): string {
  if (news.kind === "used") return `used:${news.used.turnId}`;
  const chatId = news.kind === "moved" ? news.move.from.chatId : news.chatId;
  return `${news.kind}:${JSON.stringify([news.messengerId, chatId])}`;
}
