import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

export const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

export const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: USAGE,
};

export const PROMPT: LanguageModelV4CallOptions = {
  prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
};

export function delta(text: string, id = "1"): LanguageModelV4StreamPart {
  return { type: "text-delta", id, delta: text };
}

/** A model whose stream the test feeds by hand. */
export function stubModel(doStream: LanguageModelV4["doStream"]): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "stub",
    modelId: "stub-1",
    supportedUrls: {},
    doStream,
    doGenerate: () => Promise.reject(new Error("not used")),
  };
}

export interface Feed {
  readonly model: LanguageModelV4;
  readonly controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>;
  /** The signal that the request got. */
  readonly signal: () => AbortSignal | undefined;
  readonly wasCancelled: () => boolean;
}

export function fedModel(): Feed {
  const state: {
    controller?: ReadableStreamDefaultController<LanguageModelV4StreamPart>;
    signal?: AbortSignal;
    cancelled: boolean;
  } = { cancelled: false };
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      state.controller = controller;
    },
    cancel: () => {
      state.cancelled = true;
    },
  });
  const { controller } = state;
  if (controller === undefined) throw new Error("A stream starts at once.");
  const model = stubModel((options) => {
    state.signal = options.abortSignal;
    return Promise.resolve({ stream });
  });
  return { model, controller, signal: () => state.signal, wasCancelled: () => state.cancelled };
}

/** Reads a stream in the background; `parts` grows as they come, `ended` settles as it does. */
export function collect<T>(stream: ReadableStream<T>): {
  readonly parts: T[];
  readonly ended: Promise<void>;
} {
  const parts: T[] = [];
  const read = async () => {
    for await (const part of stream) parts.push(part);
  };
  const ended = read();
  ended.catch(() => undefined);
  return { parts, ended };
}
