import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { demoReply, type DemoReply } from "./demo-reply.ts";

const PACE_MS = 30;
/** Even a long reply has at most this many chunks, so it is streamed within six seconds. */
const MOST_CHUNKS = 200;

export interface DemoOptions {
  /** Whether people may run the bot's tools and actions by hand (`/call`). */
  readonly canCall?: boolean;
  /** Waits. Rejects with the signal's reason when it aborts. @default by the runtime's timers */
  readonly pause?: (delayMs: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Creates the model that answers under `switchboard dev` if none is configured, so that a bot works on a fresh machine
 * without a network. It is not a language model: it understands a few sentences, calls the bot's real tools for them,
 * and says what it is in its first reply. The same prompt gives the same reply.
 */
export function createDemoModel({ canCall = false, pause = realPause }: DemoOptions = {}): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "switchboard.demo",
    modelId: "demo",
    supportedUrls: {},
    doGenerate: async (options) => {
      const reply = demoReply(options.prompt, options.tools ?? [], canCall);
      const text: LanguageModelV4Content[] = reply.text === "" ? [] : [{ type: "text", text: reply.text }];
      return {
        content: [...text, ...toolCalls(reply)],
        finishReason: finishReason(reply),
        usage: usage(options, reply),
        warnings: [],
      };
    },
    doStream: async (options) => {
      const reply = demoReply(options.prompt, options.tools ?? [], canCall);
      const parts = streamParts(options, reply, pause);
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          pull: async (controller) => {
            const next = await parts.next();
            if (next.done) controller.close();
            else controller.enqueue(next.value);
          },
          cancel: async () => {
            await parts.return(undefined);
          },
        }),
      };
    },
  };
}

async function* streamParts(
  options: LanguageModelV4CallOptions,
  reply: DemoReply,
  pause: NonNullable<DemoOptions["pause"]>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  if (reply.text !== "") {
    yield { type: "text-start", id: "text" };
    for (const delta of chunksOf(reply.text)) {
      await pause(PACE_MS, options.abortSignal);
      yield { type: "text-delta", id: "text", delta };
    }
    yield { type: "text-end", id: "text" };
  }
  for (const call of toolCalls(reply)) yield call;
  yield { type: "finish", finishReason: finishReason(reply), usage: usage(options, reply) };
}

function realPause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, delayMs);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
    if (signal?.aborted) reject(signal.reason);
  });
}

/** Cuts a text into words, or into several words at a time if there are many. */
function chunksOf(text: string): readonly string[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text];
  const size = Math.ceil(words.length / MOST_CHUNKS);
  const chunks: string[] = [];
  for (let start = 0; start < words.length; start += size) {
    chunks.push(words.slice(start, start + size).join(""));
  }
  return chunks;
}

function toolCalls(reply: DemoReply): Extract<LanguageModelV4Content, { type: "tool-call" }>[] {
  return reply.calls.map((call) => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.toolName,
    input: JSON.stringify(call.input),
  }));
}

function finishReason(reply: DemoReply): LanguageModelV4FinishReason {
  return reply.calls.length > 0
    ? { unified: "tool-calls", raw: "tool_calls" }
    : { unified: "stop", raw: "stop" };
}

/** Returns the number of tokens, estimated as four characters each. */
function usage(options: LanguageModelV4CallOptions, reply: DemoReply): LanguageModelV4Usage {
  const input = Math.ceil(JSON.stringify(options.prompt).length / 4);
  const output = Math.ceil((reply.text.length + JSON.stringify(reply.calls).length) / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
