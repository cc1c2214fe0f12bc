import { z } from "zod";
import type { AddressRules } from "../newest-addresses.ts";

/** Ids are `teams:` with the conversation, the service's address, and sometimes the conversation's type. */
const ID = /^teams:([\w-]+):([\w-]*)((?::\w+)?)$/;
/** Names a thread of a channel. */
const THREAD = /;messageid=\d+$/;

const activity = z.object({ serviceUrl: z.string(), timestamp: z.string() });

/**
 * Bots keep the newest `serviceUrl` of a conversation for later calls, because it can change ("Send proactive
 * messages", Bot Framework). The adapter keeps the first one, inside of its thread ids.
 */
export const addresses: AddressRules = {
  read(threadId) {
    const [, conversation, address] = ID.exec(threadId) ?? [];
    if (conversation === undefined || address === undefined) return undefined;
    if (encode(decode(address)) !== address) return undefined;
    const base = decode(conversation).replace(THREAD, "");
    return { chat: `teams:${encode(base)}:`, address: decode(address) };
  },
  withAddress: (threadId, address) =>
    threadId.replace(
      ID,
      (_id, conversation, _address, type) => `teams:${conversation}:${encode(address)}${type}`,
    ),
  ofEvent(raw) {
    const { data } = activity.safeParse(raw);
    const sentAt = Date.parse(data?.timestamp ?? "");
    return data === undefined || Number.isNaN(sentAt) ? undefined : { address: data.serviceUrl, sentAt };
  },
};

function decode(text: string): string {
  return Buffer.from(text, "base64url").toString("utf8");
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}
