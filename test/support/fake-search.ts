import type { CallOptions, PostSearch } from "../../src/core/chat/surface.ts";
import type { FakeCall, FakeMessage, FakeMethod, FakeSurfaceOptions } from "./fake-platform.ts";

type SearchKind = FakeSurfaceOptions["search"];

interface Access {
  readonly call: <Value>(
    method: FakeMethod,
    what: Omit<FakeCall, "at" | "method" | "outcome">,
    options: CallOptions,
    act: () => Value,
  ) => Promise<Value>;
  readonly messages: (chatId: string) => readonly FakeMessage[];
}

/** How long a platform that takes a key once remembers it. */
const REPEATABLE_FOR_MS = 30_000;

/** Finds messages by their key, or in the list of those that were posted since a time. */
export function fakeSearch(kind: SearchKind, { call, messages }: Access): PostSearch {
  return {
    ...(kind === "repeats" && { repeatableForMs: REPEATABLE_FOR_MS }),
    find: ({ chatId }, lost, options) =>
      call("find", { chatId }, options, () =>
        messages(chatId)
          .filter(({ at = 0, id, key, text }) =>
            kind === "keys"
              ? key === lost.key
              : at >= lost.since && key !== undefined && !lost.isOther(id) && lost.isText(text),
          )
          .map(({ id }) => ({ messageId: id })),
      ),
  };
}

/** Returns the message that a post with the same key has made, if the platform still knows. */
export function rememberedPost(
  kind: SearchKind,
  messages: readonly FakeMessage[],
  key: string | undefined,
  now: number,
): FakeMessage | undefined {
  if (kind !== "repeats" || key === undefined) return undefined;
  return messages.find(({ at = 0, key: known }) => known === key && now < at + REPEATABLE_FOR_MS);
}
