/**
 * An OpenAI-compatible chat completions server that a test controls, including failures. `GET /v1/models`, `POST
 * /v1/chat/completions` (streaming and not).
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sendJson, StreamedAnswer, usageOf, WholeAnswer } from "./model-answer.ts";
import type { ChatMessage, ModelRequest } from "./model-request.ts";
import { continueAfter, say, type ModelStep } from "./model-script.ts";

export type ModelScript = (request: ModelRequest) => readonly ModelStep[] | Promise<readonly ModelStep[]>;

export interface ScriptedModel {
  /** Base URL for `OPENAI_BASE_URL`, ending in `/v1`. */
  readonly url: string;
  requests(): readonly ModelRequest[];
  /** Settles with the request of that index, also a future one. */
  request(index: number): Promise<ModelRequest>;
  script(script: ModelScript): void;
  /**
   * Treatment of a partial assistant message at the end: the model continues it, or starts over.
   * @default "restart"
   */
  onPartial(mode: "continue" | "restart"): void;
  close(): Promise<void>;
}

/** Returns the person's last message as plain text. */
export function lastUserText(request: ModelRequest): string {
  return textOf(request.messages.findLast((message) => message.role === "user"));
}

export function textOf(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

/** The default script of a server: it repeats the message. */
export const echo: ModelScript = (request) => [say(`You said: ${lastUserText(request)}`)];

export async function startScriptedModel(
  options: { port?: number; sleep?: (durationMs: number, signal: AbortSignal) => Promise<unknown> } = {},
): Promise<ScriptedModel> {
  const sleep = options.sleep ?? ((durationMs, signal) => delay(durationMs, undefined, { signal }));
  const requests: ModelRequest[] = [];
  const waiting = new Map<number, PromiseWithResolvers<ModelRequest>>();
  let script = echo;
  let mode: "continue" | "restart" = "restart";

  const complete = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await readBody(incoming)) as Record<string, unknown>;
    const { request, end } = createRequest(requests.length, body, incoming);
    const gone = new AbortController();
    response.on("close", () => {
      gone.abort();
      end(response.writableFinished ? "done" : "client-left");
    });
    requests.push(request);
    waiting.get(request.index)?.resolve(request);
    let steps = await script(request);
    const last = request.messages.at(-1);
    if (mode === "continue" && last?.role === "assistant") steps = continueAfter(steps, textOf(last));
    const answer = request.stream
      ? new StreamedAnswer(request, response)
      : new WholeAnswer(request, response);
    for (const step of steps) {
      if (gone.signal.aborted) return;
      const flow = await play(step, { answer, response, gone: gone.signal, sleep, end });
      if (flow === "ended") return;
    }
    answer.finish();
  };

  const server = createServer((incoming, response) => {
    if (incoming.method === "GET" && incoming.url?.endsWith("/models")) {
      return sendJson(response, 200, { object: "list", data: [{ id: "scripted", object: "model" }] });
    }
    if (incoming.method === "POST" && incoming.url?.endsWith("/chat/completions")) {
      complete(incoming, response).catch((error: unknown) => {
        if (!response.headersSent)
          sendJson(response, 500, { error: { message: `script failed: ${String(error)}` } });
        else response.destroy();
      });
      return;
    }
    sendJson(response, 404, { error: { message: `no such endpoint: ${incoming.method} ${incoming.url}` } });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: () => requests,
    request(index) {
      const known = requests[index];
      if (known !== undefined) return Promise.resolve(known);
      const pending = waiting.get(index) ?? Promise.withResolvers<ModelRequest>();
      waiting.set(index, pending);
      return pending.promise;
    },
    script: (next) => void (script = next),
    onPartial: (next) => void (mode = next),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface Stage {
  readonly answer: StreamedAnswer | WholeAnswer;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
  readonly sleep: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
  readonly end: (state: ModelRequest["state"]) => void;
}

async function play(step: ModelStep, stage: Stage): Promise<"next" | "ended"> {
  const { answer, response, gone, sleep, end } = stage;
  const fail = (act: () => void): "ended" => {
    end("failed");
    act();
    return "ended";
  };
  switch (step.kind) {
    case "text":
      for (let start = 0; start < step.text.length; start += step.chunkSize) {
        if (gone.aborted) return "ended";
        answer.text(step.text.slice(start, start + step.chunkSize));
        if (step.paceMs > 0) await untilGone(sleep(step.paceMs, gone), gone);
      }
      return "next";
    case "reasoning":
      answer.reasoning(step.text);
      return "next";
    case "tool-call":
      answer.toolCall(step);
      return "next";
    case "gate":
      await untilGone(step.gate.pass(), gone);
      return "next";
    case "wait":
      await untilGone(sleep(step.durationMs, gone), gone);
      return "next";
    case "stall":
      answer.begin();
      await untilGone(new Promise(() => {}), gone);
      return "ended";
    case "http-error":
      return fail(() => sendJson(response, step.status, { error: { message: step.message } }, step.headers));
    case "error-event":
      return fail(() => answer.error(step.message));
    case "cut":
      // The written part must leave first. Otherwise the client sees less than the script says.
      answer.begin();
      await new Promise<void>((resolve) => response.write("", () => resolve()));
      return fail(() => response.destroy());
    case "end-without-finish":
      answer.begin();
      return fail(() => response.end());
    case "finish":
      answer.finishReason = step.reason;
      return "next";
    case "usage":
      answer.usage = usageOf(step.inputTokens, step.outputTokens);
      return "next";
    default:
      return step satisfies never;
  }
}

/** Waits for `promise`, or until the client leaves. */
async function untilGone(promise: Promise<unknown>, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return;
  const left = Promise.withResolvers<void>();
  const leave = (): void => left.resolve();
  gone.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([promise, left.promise]);
  } catch (error) {
    if (!gone.aborted) throw error;
  } finally {
    gone.removeEventListener("abort", leave);
  }
}

function createRequest(
  index: number,
  body: Record<string, unknown>,
  incoming: IncomingMessage,
): { request: ModelRequest; end: (state: ModelRequest["state"]) => void } {
  const ended = Promise.withResolvers<void>();
  const tools = (body.tools ?? []) as { function: { name: string } }[];
  const request: ModelRequest = {
    index,
    model: String(body.model),
    messages: (body.messages ?? []) as ChatMessage[],
    tools: tools.map((tool) => tool.function.name),
    stream: body.stream === true,
    authorized: incoming.headers.authorization !== undefined,
    body,
    sentText: "",
    state: "running",
    ended: ended.promise,
  };
  const end = (state: ModelRequest["state"]): void => {
    if (request.state !== "running") return;
    request.state = state;
    ended.resolve();
  };
  return { request, end };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
