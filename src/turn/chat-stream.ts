import type { UIMessage } from "ai";
import type { TurnEngine } from "./turn-engine.ts";
import { ReplyText } from "./reply-text.ts";

/**
 * Receives one turn as it streams; an `RpcTarget` when the caller is in another object. Calls come one after another,
 * each after the former has resolved. A throw ends the calls, never the turn.
 */
export interface StreamCallback {
  /** The turn is durable. `requestId` is what `cancelChat` takes. */
  onStart(event: { readonly requestId: string }): void | Promise<void>;
  /** One AI SDK UI message chunk, as JSON; never an `error`, for which there is `onError`. */
  onEvent(json: string): void | Promise<void>;
  onDone(): void | Promise<void>;
  /** The turn ended without a whole answer. `error` may be shown to a person. */
  onError(error: string): void | Promise<void>;
  /** What was streamed so far is void: the model call was begun again. More events may follow; not an end. */
  onInterrupted?(): void | Promise<void>;
}

export interface ChatStreamOptions {
  readonly engine: TurnEngine;
  readonly session: string;
  readonly requestId: string;
  readonly message: UIMessage;
  readonly errorText: string;
  /** Instead of `errorText`, when the model could not answer for too long. */
  readonly overloadedText: string;
  readonly callback: StreamCallback;
}

/** Runs a turn and streams it to a callback. Resolves when the turn has ended and the callback knows. */
export async function streamChat(options: ChatStreamOptions): Promise<void> {
  const { callback, engine, requestId, session } = options;
  let calls = Promise.resolve();
  let isBroken = false;
  const call = (body: () => void | Promise<void>): Promise<void> => {
    calls = calls.then(async () => {
      if (isBroken) return;
      try {
        await body();
      } catch {
        // The caller went away (its object died, its connection broke). The turn itself goes on.
        isBroken = true;
      }
    });
    return calls;
  };
  // A callback in another object has every method; one that it lacks throws when it is called, which is no harm here.
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
  const handle = engine.harness.session(session);
  const unsubscribe = handle.subscribe((event) => {
    if (event.type === "chunk" && event.operationId === requestId) {
      text.onChunk(event.chunk);
      // A failed model call may be made again; whether the turn failed is told by `onError` alone.
      if (event.chunk.type === "error") return;
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
    const submitted = engine.submit(requestId, session, options.message);
    // Before all that the turn says, and not before there is a turn.
    void call(async () => {
      await submitted;
      await callback.onStart({ requestId });
    });
    await submitted;
    await handle.wait(requestId);
    const outcome = await engine.outcome(requestId, session);
    const { errorText, overloadedText } = options;
    await call(() =>
      outcome.kind === "failed"
        ? callback.onError(outcome.isOverloaded === true ? overloadedText : errorText)
        : callback.onDone(),
    );
  } finally {
    unsubscribe();
  }
}
