import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Gate } from "../../../lab/support/gate.ts";

/** What the model does, one after the other. */
export type ModelStep =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "hold"; readonly gate: Pick<Gate, "pass"> }
  | { readonly kind: "call"; readonly tool: string; readonly input: unknown }
  | { readonly kind: "fail"; readonly error: Error };

export interface ModelRequest {
  /** The name of the object that asks. */
  readonly asker: string;
  readonly prompt: LanguageModelV4Prompt;
  readonly tools: readonly string[];
  /** The words about all tools. */
  readonly toolWords: string;
  /** Whether the answer is streamed; a summary is not. */
  readonly isStreamed: boolean;
  /** What the person wrote last. */
  readonly said: string;
}

export type ModelScript = (request: ModelRequest) => readonly ModelStep[];

export function say(text: string): ModelStep {
  return { kind: "say", text };
}

export function holdAt(gate: Pick<Gate, "pass">): ModelStep {
  return { kind: "hold", gate };
}

export function callTool(tool: string, input: unknown = {}): ModelStep {
  return { kind: "call", tool, input };
}

export function failWith(error: Error): ModelStep {
  return { kind: "fail", error };
}

/** The script that a world starts with. */
export const echo: ModelScript = ({ said }) => [say(`You said: ${said}`)];

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** An AI SDK model that does what `script` says, and tells `onRequest` of each request. */
export function scriptedModel(
  asker: string,
  script: ModelScript,
  onRequest: (request: ModelRequest) => void,
): LanguageModelV4 {
  const begin = (options: LanguageModelV4CallOptions, isStreamed: boolean): readonly ModelStep[] => {
    const request: ModelRequest = {
      asker,
      prompt: options.prompt,
      tools: (options.tools ?? []).map(({ name }) => name),
      toolWords: (options.tools ?? []).map((one) => ("description" in one ? one.description : "")).join("\n"),
      isStreamed,
      said: textOf(options.prompt.findLast(({ role }) => role === "user")),
    };
    onRequest(request);
    return script(request);
  };
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted-1",
    supportedUrls: {},
    doStream: (options) => Promise.resolve({ stream: streamOf(begin(options, true), options.abortSignal) }),
    doGenerate: (options) => {
      const text = begin(options, false)
        .map((step) => (step.kind === "say" ? step.text : ""))
        .join("");
      return Promise.resolve({
        content: [{ type: "text", text }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: USAGE,
        warnings: [],
      });
    },
  };
}

function streamOf(
  steps: readonly ModelStep[],
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    async start(controller) {
      signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
      controller.enqueue({ type: "stream-start", warnings: [] });
      let reason: "stop" | "tool-calls" | "error" = "stop";
      for (const [index, step] of steps.entries()) {
        const id = String(index);
        switch (step.kind) {
          case "say":
            controller.enqueue({ type: "text-start", id });
            controller.enqueue({ type: "text-delta", id, delta: step.text });
            controller.enqueue({ type: "text-end", id });
            break;
          case "hold":
            await step.gate.pass();
            if (signal?.aborted) return;
            break;
          case "call":
            reason = "tool-calls";
            controller.enqueue({
              type: "tool-call",
              toolCallId: `call-${crypto.randomUUID()}`,
              toolName: step.tool,
              input: JSON.stringify(step.input),
            });
            break;
          case "fail":
            reason = "error";
            controller.enqueue({ type: "error", error: step.error });
            break;
        }
      }
      controller.enqueue({
        type: "finish",
        finishReason: { unified: reason, raw: reason },
        usage: USAGE,
      });
      controller.close();
    },
  });
}

/** The text of one message of a prompt. */
export function textOf(message: LanguageModelV4Prompt[number] | undefined): string {
  if (message === undefined) return "";
  if (message.role === "system") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
