import type { Adapter } from "chat";
import { isRecord } from "../../../../src/core/json/is-record.ts";
import { contentKey } from "../../events/event-key.ts";
import type { AdapterSearch } from "./adapter-search.ts";

/** The parts of the adapter that read. */
interface LinearAdapter {
  decodeThreadId(threadId: string): { readonly agentSessionId?: string };
  ensureValidToken(): Promise<void>;
  getClient(): {
    agentActivity(id: string): Promise<unknown>;
    comment(variables: { readonly id: string }): Promise<unknown>;
  };
}

/** The author of a comment or an activity may name its id, so that a lost one is found by it. */
export const linearSearch: AdapterSearch = {
  async find(adapter, threadId, { key }) {
    const id = await linearIdOf(key);
    return (await existsOnLinear(adapter, threadId, id)) ? [{ messageId: id }] : [];
  },
};

/** Returns the id of the message with this key: a UUID of version 4, as Linear wants it. */
export async function linearIdOf(key: string): Promise<string> {
  const hex = await contentKey(`linear:${key}`);
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}

/** Asks whether there is a comment, or an activity of a session, with this id. */
export async function existsOnLinear(adapter: Adapter, threadId: string, id: string): Promise<boolean> {
  const linear = adapter as unknown as LinearAdapter;
  await linear.ensureValidToken();
  const client = linear.getClient();
  try {
    const isActivity = linear.decodeThreadId(threadId).agentSessionId !== undefined;
    await (isActivity ? client.agentActivity(id) : client.comment({ id }));
    return true;
  } catch (error) {
    if (isRefusal(error) && /not found/i.test(String(error.message))) return false;
    throw error;
  }
}

/** Whether Linear has understood a call, and has refused it. */
export function isRefusal(error: unknown): error is Readonly<Record<string, unknown>> {
  return isRecord(error) && ["InvalidInput", "UserError", "GraphqlError"].includes(String(error.type));
}
