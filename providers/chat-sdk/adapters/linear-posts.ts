import type { Adapter, AdapterPostableMessage } from "chat";
import { z } from "zod";
import type { MessagePost } from "./adapter-profile.ts";
import { existsOnLinear, isRefusal, linearIdOf } from "./search/linear.ts";
import { postKey } from "./search/post-key.ts";

/** The parts of the adapter that write. */
interface LinearAdapter {
  readonly mode?: string;
  readonly formatConverter: { renderPostable(message: AdapterPostableMessage): string };
  decodeThreadId(threadId: string): {
    readonly issueId: string;
    readonly commentId?: string;
    readonly agentSessionId?: string;
  };
  ensureValidToken(): Promise<void>;
  readonly getClient?: () => {
    createAgentActivity(input: object): Promise<unknown>;
    createComment(input: object): Promise<unknown>;
    updateComment(id: string, input: object): Promise<unknown>;
  };
}

const made = z.object({
  success: z.literal(true),
  commentId: z.string().nullish(),
  agentActivityId: z.string().nullish(),
});

/** Whether the adapter answers sessions of an agent, and not comments. */
export function hasSessions(adapter: Adapter): boolean {
  return partsOf(adapter).mode === "agent-sessions";
}

/** Whether a thread is a session of the agent. */
export function isSession(threadId: string): boolean {
  return /^linear:.*:s:[^:]+$/.test(threadId);
}

/**
 * Posts a comment, or an activity of a session. Returns the id, as the call that makes it tells. The adapter asks for the
 * new comment in a second call; if that fails, the comment exists, and would be posted again.
 * A session waits for the person after a question.
 */
export async function postToLinear(
  { isQuestion, message, threadId }: MessagePost,
  adapter: Adapter,
): Promise<string> {
  const linear = partsOf(adapter);
  // Another class of this name.
  if (linear.getClient === undefined) return (await adapter.postMessage(threadId, message)).id;
  const { agentSessionId, commentId: parentId, issueId } = linear.decodeThreadId(threadId);
  const body = linear.formatConverter.renderPostable(message);
  await linear.ensureValidToken();
  const client = linear.getClient();
  const type = isQuestion ? "elicitation" : "response";
  const key = postKey();
  const id = key === undefined ? undefined : await linearIdOf(key);
  try {
    const created = made.parse(
      agentSessionId === undefined
        ? await client.createComment({ id, issueId, body, parentId })
        : await client.createAgentActivity({ id, agentSessionId, content: { type, body } }),
    );
    return z.string().parse(created.commentId ?? created.agentActivityId);
  } catch (error) {
    // Linear takes an id once. A post that was lost may have been made.
    if (id !== undefined && isRefusal(error) && (await existsOnLinear(adapter, threadId, id))) return id;
    throw error;
  }
}

function partsOf(adapter: Adapter): LinearAdapter {
  return adapter as unknown as LinearAdapter;
}

const stopped = z.object({
  type: z.literal("AgentSessionEvent"),
  agentActivity: z.object({ signal: z.literal("stop") }),
});

/** Whether a webhook says that a person stops the session. The adapter reports that as a message. */
export function isStop(body: unknown): boolean {
  return stopped.safeParse(body).success;
}
