import { streamChat } from "../turn/chat-stream.ts";
import type { ChatStreamOptions, StreamCallback } from "../turn/chat-stream.ts";
import { safeText } from "../messengers/declare/texts.ts";
import type { OwnTurns } from "../messengers/thread/own-turns.ts";

export interface ChatRun {
  readonly engine: ChatStreamOptions["engine"];
  readonly own: Pick<OwnTurns, "prompts" | "sessionOf">;
  readonly requestId: string;
  /** Stores the prompt under this id. */
  readonly submit: (requestId: string) => Promise<unknown>;
}

/** Submits a prompt whose answer is streamed to a callback. Resolves when its turn has ended. */
export async function runChat(
  { engine, own, requestId, submit }: ChatRun,
  callback: StreamCallback,
): Promise<void> {
  const { prompts } = own;
  const begun = prompts.untilBegun(requestId).then(() => own.sessionOf(requestId));
  try {
    await submit(requestId);
  } catch (error) {
    prompts.settle(requestId);
    throw error;
  }
  await streamChat({
    engine,
    requestId,
    begun,
    errorText: safeText(undefined, "errorResponseText", undefined, undefined),
    overloadedText: safeText(undefined, "overloadedResponseText", undefined, undefined),
    callback,
  });
}
