import type { PlatformPlace } from "../../../src/core/chat/messenger.ts";
import type { ChatSdkSettings } from "../options.ts";
import type { StateKind } from "./state-kind.ts";

/** Prefixes of keys that end with the id of a thread. */
const OF_THREAD = /^(?:thread-state|channel-state|msg-history):/;

/** Returns the object that keeps a key of the adapter's state. The root has one store for all secrets. */
export function placeOf(
  { keyShard, shardKey, stateRoot }: Pick<ChatSdkSettings, "keyShard" | "shardKey" | "stateRoot">,
  key: string,
  kind?: StateKind,
): PlatformPlace {
  if (kind === "secret") return { shard: undefined, root: stateRoot };
  const ofThread = OF_THREAD.test(key) ? shardKey?.(key.replace(OF_THREAD, "")) : undefined;
  return { shard: keyShard?.(key) ?? ofThread, root: stateRoot };
}
