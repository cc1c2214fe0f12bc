import type { BroadcastTarget, NewBroadcast, PlacedChat, PlacedTarget } from "../core/turn/broadcast.ts";
import { parseSubscriberKey } from "./stored-broadcast.ts";
import type { ChatFilter, ChatPage } from "../core/chat/chat.ts";
import type { BroadcastStore } from "./broadcast-store.ts";
import type { StoredBroadcast, StoredTarget } from "./stored-broadcast.ts";
import type { SubscriberStore } from "./subscriber-store.ts";

export interface TargetSources {
  readonly store: Pick<BroadcastStore, "addTargets">;
  readonly subscribers: Pick<SubscriberStore, "page">;
  readonly chats: (filter: ChatFilter) => ChatPage;
  readonly placeOf: (target: BroadcastTarget) => PlacedTarget;
  /** Lets other events of the object run. */
  readonly pause: () => Promise<void>;
}

/** Targets are stored in commits of this size. */
const PAGE = 500;

/**
 * Stores the targets of a broadcast, each once. Continues where an interrupted call has stopped. A target that cannot be
 * written to is stored as skipped, with the code of the refusal.
 */
export async function collectTargets(
  sources: TargetSources,
  { cursor, seq }: Pick<StoredBroadcast, "seq" | "cursor">,
  targets: NewBroadcast["targets"],
): Promise<void> {
  const add = (found: readonly (BroadcastTarget | PlacedChat)[], next: string): void =>
    sources.store.addTargets(
      seq,
      found.map((target) => stored(sources, target)),
      next,
    );
  if (targets === "subscribers") {
    let after = cursor === undefined ? undefined : parseSubscriberKey(cursor);
    for (;;) {
      const page = sources.subscribers.page(after, PAGE).map(({ address }) => address);
      const last = page.at(-1);
      if (last === undefined) return;
      after = { messengerId: last.messengerId, threadId: last.threadId };
      add(page, JSON.stringify(after));
      await sources.pause();
    }
  }
  if (typeof targets === "function" || targets === "all") {
    const isAsked = targets === "all" ? () => true : targets;
    let after = cursor;
    do {
      const page = sources.chats({
        isGone: false,
        limit: PAGE,
        ...(after !== undefined && { cursor: after }),
      });
      const wanted = await Promise.all(
        page.chats.map(async (chat) => ({ chat, isWanted: await isAsked(chat) })),
      );
      const found = wanted.flatMap(({ chat: { chatId, messengerId }, isWanted }) =>
        isWanted ? [{ messenger: messengerId, chatId }] : [],
      );
      after = page.cursor;
      if (after === undefined && found.length === 0) return;
      add(found, after ?? cursor ?? "");
      await sources.pause();
    } while (after !== undefined);
    return;
  }
  const list = isList(targets) ? targets : [targets];
  for (let from = Number(cursor ?? 0); from < list.length; from += PAGE) {
    add(list.slice(from, from + PAGE), String(from + PAGE));
    await sources.pause();
  }
}

function stored({ placeOf }: TargetSources, target: BroadcastTarget | PlacedChat): StoredTarget {
  const found = isPlaced(target)
    ? { ...placeOf(target.address), conversation: target.conversation }
    : placeOf(target);
  const fresh = { deliveryId: undefined, messageIds: [], tries: 0 };
  if (found.kind === "refused") {
    const key = `?${JSON.stringify(target)}`;
    return { ...fresh, key, state: "skipped", code: found.code, conversation: undefined, address: undefined };
  }
  const { address, conversation, key } = found;
  return { ...fresh, key, state: "waiting", code: undefined, conversation, address };
}

function isPlaced(target: BroadcastTarget | PlacedChat): target is PlacedChat {
  return typeof target === "object" && "address" in target;
}

function isList<Target>(targets: Target | readonly Target[]): targets is readonly Target[] {
  return Array.isArray(targets);
}
