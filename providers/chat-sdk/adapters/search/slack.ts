import { z } from "zod";
import { isRecord } from "../../../../src/core/json/is-record.ts";
import { CLOCKS_DIFFER_MS, foundIn, PAGE_SIZE } from "./adapter-search.ts";
import type { AdapterSearch } from "./adapter-search.ts";
import { postKey, replaceMethod } from "./post-key.ts";

const EVENT_TYPE = "switchboard_post";

/**
 * Slack keeps metadata with each message, and lists it with the history of a channel or a thread. The app needs
 * `channels:history`, `groups:history`, `im:history` and `mpim:history`. A message with files has no metadata, so its
 * text is compared.
 */
export const slackSearch: AdapterSearch = {
  keyPosts(adapter) {
    replaceMethod(adapter, "withToken", (add) => (options: unknown) => {
      const key = postKey();
      const isPost =
        isRecord(options) && "channel" in options && TEXT_FIELDS.some((field) => field in options);
      if (key === undefined || !isPost) return add(options);
      const metadata = { event_type: EVENT_TYPE, event_payload: { key } };
      return add({ ...options, metadata });
    });
  },
  async find(adapter, threadId, { isOther, isText, key, since, until }) {
    const { _client: client, decodeThreadId, withToken } = parts.parse(adapter);
    const { channel, threadTs } = place.parse(decodeThreadId.call(adapter, threadId));
    const asked = await withToken.call(adapter, {
      channel,
      oldest: secondsOf(since - CLOCKS_DIFFER_MS),
      latest: secondsOf(until + CLOCKS_DIFFER_MS),
      limit: PAGE_SIZE,
      include_all_metadata: true,
      ...(threadTs && { ts: threadTs }),
    });
    const { conversations } = client;
    const answer = await (threadTs ? conversations.replies(asked) : conversations.history(asked));
    const { has_more: hasMore, messages } = page.parse(answer);
    const ids = messages
      .filter(
        ({ bot_id: botId, files, metadata, text, ts, user }) =>
          metadata?.event_payload?.key === key ||
          (metadata?.event_type !== EVENT_TYPE &&
            files !== undefined &&
            // The bot's own store of installations may leave it out.
            (adapter.botUserId === undefined ? botId !== undefined : user === adapter.botUserId) &&
            isText(text ?? "") &&
            !isOther(ts)),
      )
      .map(({ ts }) => ts)
      .toSorted((left, right) => Number(left) - Number(right));
    return foundIn(ids, hasMore !== true);
  },
};

/** A call with one of these fields and a channel posts a message. */
const TEXT_FIELDS = ["text", "markdown_text", "blocks"];

const anyFunction = <Type>() => z.custom<Type>((value) => typeof value === "function");
type Ask = (options: object) => Promise<unknown>;
const conversations = z.custom<{ readonly history: Ask; readonly replies: Ask }>(isRecord);
const parts = z.object({
  _client: z.custom<{ readonly conversations: z.infer<typeof conversations> }>(isRecord),
  decodeThreadId: anyFunction<(threadId: string) => unknown>(),
  withToken: anyFunction<(options: object) => Promise<object>>(),
});
const place = z.object({ channel: z.string(), threadTs: z.string().nullish() });
const page = z.object({
  has_more: z.boolean().nullish(),
  messages: z.array(
    z.object({
      ts: z.string(),
      user: z.string().optional(),
      bot_id: z.string().optional(),
      text: z.string().nullish(),
      files: z.array(z.unknown()).optional(),
      metadata: z
        .object({
          event_type: z.string().nullish(),
          event_payload: z.object({ key: z.unknown() }).nullish().catch(undefined),
        })
        .nullish(),
    }),
  ),
});

function secondsOf(time: number): string {
  return (time / 1000).toFixed(6);
}
