import type { ServerResponse } from "node:http";
import type { ModelRequest } from "./model-request.ts";
import type { ModelStep } from "./model-script.ts";

export function usageOf(inputTokens: number, outputTokens: number): Record<string, number> {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** The common part of both forms of an answer: the finish reason and the numbers of tokens. */
abstract class Answer {
  finishReason: string | undefined;
  usage = usageOf(10, 10);
  protected readonly request: ModelRequest;
  protected readonly response: ServerResponse;
  protected toolCalls = 0;

  constructor(request: ModelRequest, response: ServerResponse) {
    this.request = request;
    this.response = response;
  }

  protected reason(): string {
    return this.finishReason ?? (this.toolCalls > 0 ? "tool_calls" : "stop");
  }

  protected envelope(kind: string, fields: Record<string, unknown>): Record<string, unknown> {
    return {
      id: `scripted-${this.request.index}`,
      object: kind,
      created: 0,
      model: this.request.model,
      ...fields,
    };
  }

  protected nextCall(step: Extract<ModelStep, { kind: "tool-call" }>): { index: number; id: string } {
    const index = this.toolCalls;
    this.toolCalls += 1;
    return { index, id: step.id ?? `call-${this.request.index}-${index}` };
  }
}

/** Sends server-sent events as it goes. */
export class StreamedAnswer extends Answer {
  begin(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    this.#delta({ role: "assistant", content: "" });
  }

  text(text: string): void {
    this.begin();
    this.request.sentText += text;
    this.#delta({ content: text });
  }

  reasoning(text: string): void {
    this.begin();
    this.#delta({ reasoning_content: text });
  }

  toolCall(step: Extract<ModelStep, { kind: "tool-call" }>): void {
    this.begin();
    const { index, id } = this.nextCall(step);
    this.#delta({
      tool_calls: [{ index, id, type: "function", function: { name: step.name, arguments: "" } }],
    });
    for (let start = 0; start < step.arguments.length; start += step.chunkSize) {
      const piece = step.arguments.slice(start, start + step.chunkSize);
      this.#delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }

  error(message: string): void {
    this.begin();
    this.#event({ error: { message, type: "server_error", code: "scripted" } });
    this.response.end();
  }

  finish(): void {
    this.begin();
    this.#delta({}, this.reason());
    this.#event(this.envelope("chat.completion.chunk", { choices: [], usage: this.usage }));
    this.response.end("data: [DONE]\n\n");
  }

  #delta(delta: Record<string, unknown>, finishReason: string | null = null): void {
    this.#event(
      this.envelope("chat.completion.chunk", { choices: [{ index: 0, delta, finish_reason: finishReason }] }),
    );
  }

  #event(data: Record<string, unknown>): void {
    this.response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}

/** Collects, and sends one JSON document at the end. */
export class WholeAnswer extends Answer {
  readonly #calls: Record<string, unknown>[] = [];
  #reasoning = "";

  begin(): void {}

  text(text: string): void {
    this.request.sentText += text;
  }

  reasoning(text: string): void {
    this.#reasoning += text;
  }

  toolCall(step: Extract<ModelStep, { kind: "tool-call" }>): void {
    const { id } = this.nextCall(step);
    this.#calls.push({ id, type: "function", function: { name: step.name, arguments: step.arguments } });
  }

  error(message: string): void {
    sendJson(this.response, 500, { error: { message } });
  }

  finish(): void {
    const message = {
      role: "assistant",
      content: this.request.sentText,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
    };
    const choices = [{ index: 0, message, finish_reason: this.reason() }];
    sendJson(this.response, 200, this.envelope("chat.completion", { choices, usage: this.usage }));
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
