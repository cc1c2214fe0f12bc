import type { ServerContext } from "@modelcontextprotocol/server";
import type { Clock } from "../core/deps.ts";
import { wait } from "../core/deps.ts";
import type { McpCalls } from "./mcp-calls.ts";

export interface CallProgressOptions {
  readonly clock: Clock;
  readonly conversation: Pick<McpCalls, "readProgress">;
}

const LOOK_EVERY_MS = 1_000;

/** Makes a call, and tells a client that has asked for it how far the call is, until it has an answer. */
export async function withProgress<T>(
  { mcpReq }: ServerContext,
  { clock, conversation }: CallProgressOptions,
  call: () => Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return call();
  const isAnswered = new AbortController();
  const tell = async (): Promise<void> => {
    for (let shown = 0; ;) {
      await wait(clock, LOOK_EVERY_MS, isAnswered.signal);
      const newest = await conversation.readProgress(mcpReq.id);
      if (newest === undefined || newest.step === shown) continue;
      shown = newest.step;
      const params = { progressToken, progress: shown, message: newest.message };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
  };
  // It ends with the call. A client that has gone hears nothing.
  const telling = tell().catch(() => undefined);
  try {
    return await call();
  } finally {
    isAnswered.abort();
    await telling;
  }
}
