import { z } from "zod";
import { isRecord } from "../../../../src/core/json/is-record.ts";
import { CLOCKS_DIFFER_MS, foundIn, PAGE_SIZE } from "./adapter-search.ts";
import type { AdapterSearch } from "./adapter-search.ts";
import { postKey, replaceMethod } from "./post-key.ts";

/**
 * Discord makes no second message with the same `nonce` of an author "in the past few minutes". Afterwards the channel's
 * messages are listed, which needs the permission to read its history.
 */
export const discordSearch: AdapterSearch = {
  repeatableForMs: 2 * 60_000,
  keyPosts(adapter) {
    replaceMethod(adapter, "buildMessagePayload", (build) => (...args: unknown[]) => {
      const built = build(...args);
      const nonce = postKey();
      if (nonce !== undefined && isRecord(built) && isRecord(built.payload))
        Object.assign(built.payload, { nonce, enforce_nonce: true });
      return built;
    });
  },
  async find(adapter, threadId, { isOther, isText, key, since, until }) {
    const { decodeThreadId, discordFetch } = parts.parse(adapter);
    const { channelId, threadId: ownId } = place.parse(decodeThreadId.call(adapter, threadId));
    const path = `/channels/${ownId ?? channelId}/messages?limit=${PAGE_SIZE}`;
    const listed = messages.parse(await (await discordFetch.call(adapter, path, "GET")).json());
    // Without the right to read the history the list is empty. Otherwise it begins with the newest message.
    if (listed.length === 0) return "undecided";
    const from = since - CLOCKS_DIFFER_MS;
    const own = listed.filter(
      ({ author, id }) =>
        author.id === adapter.botUserId &&
        timeOf(id) >= from &&
        timeOf(id) <= until + CLOCKS_DIFFER_MS &&
        !isOther(id),
    );
    const found = own.filter((message) => message.nonce === key || textsOf(message).some(isText));
    const ids = found.map(({ id }) => id).toReversed();
    const isWhole = listed.length < PAGE_SIZE || listed.some(({ id }) => timeOf(id) < from);
    // The text of such a message may be in parts that cannot be compared.
    const isUnclear = own.some((message) => textsOf(message).length === 0);
    return ids.length === 0 && isUnclear ? "undecided" : foundIn(ids, isWhole);
  },
};

const parts = z.object({
  decodeThreadId: z.custom<(threadId: string) => unknown>((value) => typeof value === "function"),
  discordFetch: z.custom<(path: string, method: "GET") => Promise<Response>>(
    (value) => typeof value === "function",
  ),
});
const place = z.object({ channelId: z.string(), threadId: z.string().nullish() });
const messages = z.array(
  z.object({
    id: z.string(),
    author: z.object({ id: z.string() }),
    content: z.string().nullish(),
    nonce: z.union([z.string(), z.number()]).nullish(),
    embeds: z.array(z.object({ description: z.string().nullish() })).nullish(),
  }),
);

function textsOf({ content, embeds }: z.infer<typeof messages>[number]): string[] {
  const texts = [content, ...(embeds ?? []).map(({ description }) => description)];
  return texts.flatMap((text) => (text ? [text] : []));
}

const FIRST_SNOWFLAKE_MS = 1_420_070_400_000;

/** Returns the time of a message, in epoch milliseconds. */
function timeOf(snowflake: string): number {
  return Number(BigInt(snowflake) >> 22n) + FIRST_SNOWFLAKE_MS;
}
