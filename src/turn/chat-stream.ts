import { ReplyText } from "./reply-text.ts";
import type { TurnOperations } from "./tools/turn-operations.ts";

/**
 * Receives the stream of one turn. It is an `RpcTarget` if the caller is in another object. Each call is made after the
 * one before has resolved. If a call throws, no more follow, but the turn continues.
 */
export interface StreamCallback {
  /** The turn is durable. Pass `requestId` to `cancelChat` to end it. */
  onStart(event: { readonly requestId: string }): void | Promise<void>;
  /** One AI SDK UI message chunk, as JSON. Never an `error`: `onError` reports it. */
  onEvent(json: string): void | Promise<void>;
  onDone(): void | Promise<void>;
  /** The turn ended without a whole answer. `error` may be shown to a person. */
  onError(error: string): void | Promise<void>;
  /**
   * The streamed text so far is void, because the model call was restarted. This is not the end: more events may
   * follow.
   */
  onInterrupted?(): void | Promise<void>;
}

export interface ChatStreamOptions {
  readonly engine: Pick<TurnOperations, "ended" | "observe" | "sendsReasoning">;
  readonly requestId: string;
  /** Resolves with the turn's session when the turn has begun, or with nothing if it never will. */
  readonly begun: Promise<string | undefined>;
  readonly errorText: string;
  /** Used instead of `errorText` if the model could not answer for too long. */
  readonly overloadedText: string;
  readonly callback: StreamCallback;
}

/** Streams a stored turn to a callback. Resolves when the turn has ended and the callback has been told. */
export async function streamChat(options: ChatStreamOptions): Promise<void> {
  const { callback, engine, requestId } = options;
  let calls = Promise.resolve();
  let isBroken = false;
  const call = (body: () => void | Promise<void>): Promise<void> => {
    calls = calls.then(async () => {
      if (isBroken) return;
      try {
        await body();
      } catch {
        // The caller is gone (its object died, or its connection broke). The turn itself continues.
        isBroken = true;
      }
    });
    return calls;
  };
  // A callback in another object seems to have every method. If one is missing, the call throws, which does no harm
  // here.
  const interrupted = async (): Promise<void> => {
    try {
      await callback.onInterrupted?.();
    } catch {
      // `onInterrupted` is optional.
    }
  };
  const text = new ReplyText({
    append: () => {},
    replace: () => void call(interrupted),
    interrupt: () => {},
  });
  void call(() => callback.onStart({ requestId }));
  const unsubscribe = engine.observe((_session, event) => {
    if (event.type === "chunk" && event.operationId === requestId) {
      text.onChunk(event.chunk);
      // A failed model call may be made again. Only `onError` reports that the turn failed.
      if (event.chunk.type === "error") return;
      if (event.chunk.type.startsWith("reasoning") && !engine.sendsReasoning(requestId)) return;
      void call(() => callback.onEvent(JSON.stringify(event.chunk)));
    } else if (
      event.type === "message" &&
      event.operationId === requestId &&
      event.message.role === "assistant"
    ) {
      text.onMessage(event.message.parts);
    }
  });
  try {
    const session = await options.begun;
    const outcome = session === undefined ? undefined : await engine.ended(requestId, session);
    const { errorText, overloadedText } = options;
    await call(() =>
      outcome?.kind === "failed"
        ? callback.onError(outcome.instead ?? (outcome.isOverloaded === true ? overloadedText : errorText))
        : callback.onDone(),
    );
  } finally {
    unsubscribe();
  }
}
