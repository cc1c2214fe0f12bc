import type { Adapter, ChatInstance } from "chat";
import { z } from "zod";
import { isRecord } from "../../../src/core/json/is-record.ts";
import { replaceMethod } from "./search/post-key.ts";

const stopped = z.object({
  channel: z.string(),
  thread_ts: z.string(),
  user: z.string(),
  event_ts: z.string(),
});
const background = z.object({ waitUntil: z.custom<(task: Promise<unknown>) => void>(isFunction) });
/** The parts of the adapter that know sessions. */
const parts = z.object({
  chat: z.custom<Pick<ChatInstance, "processSlashCommand">>(
    (value) => isRecord(value) && isFunction(value.processSlashCommand),
  ),
  encodeThreadId: z.custom<(place: object) => string>(isFunction),
  endTyping: z.custom<(threadId: string) => Promise<void>>(isFunction),
});

/**
 * Slack shows that a session is being processed, with a button to stop it, until the bot says otherwise.
 *
 * 1. The button is `/stop`. Slack delivers its event again if it gets no answer, and `event_ts` tells that it is the same.
 * 2. A session ends to be processed with the first message, and with the button.
 *
 * Without the adapter's `agentView` there are no sessions.
 */
export function followSessions(adapter: Adapter): void {
  if (Reflect.get(adapter, "agentView") !== true) return;
  /** Threads that show that they are processed. */
  const processed = new Set<string>();
  const end = async (threadId: string): Promise<void> => {
    processed.delete(threadId);
    // Never rejects: the adapter logs a failure.
    await parts.parse(adapter).endTyping.call(adapter, threadId);
  };
  replaceMethod(adapter, "startTyping", (start) => async (threadId: string, ...rest: never[]) => {
    processed.add(threadId);
    return start(threadId, ...rest);
  });
  replaceMethod(adapter, "postMessage", (post) => async (threadId: string, ...rest: never[]) => {
    const posted = await post(threadId, ...rest);
    if (processed.has(threadId)) void end(threadId);
    return posted;
  });
  replaceMethod(adapter, "handleAgentSessionStopped", () => (event: unknown, options: unknown) => {
    const { data } = stopped.safeParse(event);
    if (data === undefined) return;
    const { channel, event_ts: triggerId, thread_ts: threadTs, user: userId } = data;
    const { chat, encodeThreadId } = parts.parse(adapter);
    const threadId = encodeThreadId.call(adapter, { channel, threadTs });
    const user = { userId, userName: userId, fullName: "", isBot: false, isMe: false };
    const command = { adapter, channelId: threadId, command: "/stop", raw: event, text: "", triggerId, user };
    void chat.processSlashCommand(command, options as never);
    background.safeParse(options).data?.waitUntil(end(threadId));
  });
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
