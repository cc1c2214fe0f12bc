import { z } from "zod";
import { isRecord } from "../../../../src/core/json/is-record.ts";
import type { AdapterSearch } from "./adapter-search.ts";
import { postKey, replaceMethod } from "./post-key.ts";

/**
 * Google Chat takes an id of the app for each message (`messageId`). It is unique in its space for ever, so a second post
 * with it is refused, and the message can be read by it with the rights that every app has. Listing messages needs the
 * consent of an administrator.
 */
export const gchatSearch: AdapterSearch = {
  repeatableForMs: 24 * 60 * 60_000,
  keyPosts(adapter) {
    replaceMethod(messagesOf(adapter), "create", (create) => (request: unknown, ...more: unknown[]) => {
      const key = postKey();
      const messageId = key === undefined ? undefined : ownIdOf(key);
      return create(
        messageId === undefined || !isRecord(request) ? request : { ...request, messageId },
        ...more,
      );
    });
  },
  async find(adapter, threadId, { key }) {
    const { decodeThreadId } = parts.parse(adapter);
    const { spaceName } = place.parse(decodeThreadId.call(adapter, threadId));
    const { get } = api.parse(messagesOf(adapter));
    try {
      const { data } = message.parse(
        await get.call(messagesOf(adapter), { name: `${spaceName}/messages/${ownIdOf(key)}` }),
      );
      return [{ messageId: data.name }];
    } catch (error) {
      if (isRecord(error) && isRecord(error.response) && error.response.status === 404) return [];
      throw error;
    }
  },
};

function ownIdOf(key: string): string {
  return `client-${key}`;
}

/** Returns the client's calls about messages. */
function messagesOf(adapter: object): unknown {
  const client: unknown = Reflect.get(adapter, "chatApi");
  return isRecord(client) && isRecord(client.spaces) ? client.spaces.messages : undefined;
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const parts = z.object({ decodeThreadId: z.custom<(threadId: string) => unknown>(isFunction) });
const place = z.object({ spaceName: z.string() });
const api = z.object({ get: z.custom<(request: { readonly name: string }) => Promise<unknown>>(isFunction) });
const message = z.object({ data: z.object({ name: z.string() }) });
