import { z } from "zod";
import type { AdapterSearch } from "./adapter-search.ts";
import { postKey, replaceMethod } from "./post-key.ts";

/**
 * WhatsApp lists no messages. It reports the status of each one, with the key that its post carried. A message without a
 * report may have been made all the same.
 *
 * Meta's change log of the WhatsApp Business Platform (developers.facebook.com/docs/whatsapp/business-platform/changelog)
 * adds `biz_opaque_callback_data` "to free-form messages for including arbitrary strings in messages webhooks", at first
 * up to 256 characters, now up to 512. Cloud API returns it with the statuses of the message, and makes no use of it: a
 * repeated key makes a second message.
 */
export const whatsappSearch: AdapterSearch = {
  keyPosts(adapter) {
    replaceMethod(adapter, "graphApiRequest", (request) => (path: string, body: object) => {
      const key = postKey();
      const isMessage = "type" in body && key !== undefined;
      return request(path, isMessage ? { ...body, biz_opaque_callback_data: key } : body);
    });
  },
  readReported,
  find: async (_adapter, _threadId, { key }, reported) => {
    const messageId = await reported(key);
    return messageId === undefined ? "undecided" : [{ messageId }];
  },
};

/**
 * Statuses come in any order, and a message that is read at once has no `delivered`. Any of them tells that the message
 * was made, also one that it did not arrive.
 */
const status = z.object({
  id: z.string(),
  biz_opaque_callback_data: z.string(),
});
const webhook = z.object({
  entry: z.array(
    z.object({
      changes: z.array(z.object({ value: z.object({ statuses: z.array(z.unknown()).optional() }) })),
    }),
  ),
});

/** Reads the messages whose status is reported. */
function readReported(body: unknown): readonly { readonly key: string; readonly messageId: string }[] {
  const { data } = webhook.safeParse(body);
  const statuses = (data?.entry ?? []).flatMap(({ changes }) =>
    changes.flatMap(({ value }) => value.statuses ?? []),
  );
  return statuses.flatMap((one) => {
    const read = status.safeParse(one).data;
    return read === undefined ? [] : { key: read.biz_opaque_callback_data, messageId: read.id };
  });
}
