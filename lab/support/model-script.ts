import type { Gate } from "./gate.ts";

/** One step of the scripted model. */
export type ModelStep =
  /** Streams text in chunks of `chunkSize` characters, `paceMs` apart. */
  | { readonly kind: "text"; readonly text: string; readonly chunkSize: number; readonly paceMs: number }
  /** Streams text in the `reasoning_content` field, as servers do that show a model's thinking. */
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "gate"; readonly gate: Gate }
  | { readonly kind: "wait"; readonly durationMs: number }
  | {
      readonly kind: "tool-call";
      readonly name: string;
      readonly arguments: string;
      readonly id: string | undefined;
      readonly chunkSize: number;
    }
  /** Answers with a status and a JSON error instead of a stream; only as the first step. */
  | {
      readonly kind: "http-error";
      readonly status: number;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** An error object in the stream, after which the stream ends. */
  | { readonly kind: "error-event"; readonly message: string }
  /** Cuts the connection. */
  | { readonly kind: "cut" }
  /** Ends the response properly, but with neither finish reason nor end mark. */
  | { readonly kind: "end-without-finish" }
  /** Sends nothing more and keeps the connection open until the client leaves. */
  | { readonly kind: "stall" }
  | { readonly kind: "finish"; readonly reason: string }
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number };

/** Steps in short form: `[say("Hello "), holdAt(gate), say("world")]`. */
export function say(text: string, options: { chunkSize?: number; paceMs?: number } = {}): ModelStep {
  return { kind: "text", text, chunkSize: options.chunkSize ?? 8, paceMs: options.paceMs ?? 0 };
}

export function think(text: string): ModelStep {
  return { kind: "reasoning", text };
}

export function holdAt(gate: Gate): ModelStep {
  return { kind: "gate", gate };
}

export function waitFor(durationMs: number): ModelStep {
  return { kind: "wait", durationMs };
}

/** Calls a tool. A string as `input` is sent unchanged, even if it is not valid JSON. */
export function callTool(
  name: string,
  input: unknown,
  options: { id?: string; chunkSize?: number } = {},
): ModelStep {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return { kind: "tool-call", name, arguments: text, id: options.id, chunkSize: options.chunkSize ?? 12 };
}

export function failWith(
  status: number,
  message = "scripted failure",
  headers: Record<string, string> = {},
): ModelStep {
  return { kind: "http-error", status, message, headers };
}

export function errorInStream(message = "scripted failure"): ModelStep {
  return { kind: "error-event", message };
}

export const cutConnection: ModelStep = { kind: "cut" };
export const endWithoutFinish: ModelStep = { kind: "end-without-finish" };
export const stall: ModelStep = { kind: "stall" };

export function finishWith(reason: string): ModelStep {
  return { kind: "finish", reason };
}

export function reportUsage(inputTokens: number, outputTokens: number): ModelStep {
  return { kind: "usage", inputTokens, outputTokens };
}

/**
 * Removes the text that the client already has from the beginning of a script, like a model that continues a partial
 * assistant message. If the partial text is not the script's beginning, the script stays unchanged.
 */
export function continueAfter(steps: readonly ModelStep[], partial: string): readonly ModelStep[] {
  const whole = steps.map((step) => (step.kind === "text" ? step.text : "")).join("");
  if (!whole.startsWith(partial)) return steps;
  let skip = partial.length;
  return steps.map((step) => {
    if (step.kind !== "text") return step;
    const kept = step.text.slice(skip);
    skip = Math.max(0, skip - step.text.length);
    return { ...step, text: kept };
  });
}
