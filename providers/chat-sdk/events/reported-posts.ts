import type { AdapterSearch } from "../adapters/search/adapter-search.ts";
import type { DurableState } from "../state/durable-state.ts";

/** A search for a lost post begins and ends within this time. */
const KEEP_MS = 60 * 60_000;

const keyOf = (key: string): string => `switchboard:posted:${key}`;

/** Stores the posts that a verified webhook reports, so that the conversation that lost one finds it. */
export async function noteReported(
  { readReported }: AdapterSearch,
  state: DurableState,
  body: () => unknown,
): Promise<void> {
  for (const { key, messageId } of readReported?.(body()) ?? [])
    await state.set(keyOf(key), messageId, KEEP_MS);
}

/** Returns the id of the message that was reported for a key. */
export async function reportedId(state: DurableState, key: string): Promise<string | undefined> {
  return (await state.get<string>(keyOf(key))) ?? undefined;
}
