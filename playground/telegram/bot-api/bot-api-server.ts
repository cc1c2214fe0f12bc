import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiCall, ApiLog } from "../control/api-log.ts";
import { BotApiError, tooManyRequests } from "./bot-api-error.ts";
import { errorAnswer } from "./bot-api.ts";
import type { BotApi, BotApiAnswer } from "./bot-api.ts";
import type { Clock } from "../clock.ts";
import type { FaultKind, Faults } from "../control/faults.ts";
import { parseBody } from "./request-body.ts";
import type { RawParameters } from "./request-body.ts";
import type { Updates } from "../webhook/updates.ts";
import type { World } from "../chats/world.ts";

const maxBodyBytes = 60 * 1024 * 1024;
const maxPollSeconds = 50;

export interface BotApiServerOptions {
  readonly token: string;
  readonly api: BotApi;
  readonly world: World;
  readonly updates: Updates;
  readonly faults: Faults;
  readonly log: ApiLog;
  readonly clock: Clock;
  /** Resolves at the next change. */
  readonly nextChange: () => Promise<void>;
}

/** Serves `/bot<token>/<method>` and `/file/bot<token>/<path>`, with the injected faults. */
export class BotApiServer {
  readonly #options: BotApiServerOptions;

  constructor(options: BotApiServerOptions) {
    this.#options = options;
  }

  /** Handles the request and returns true, if it belongs to the Bot API. */
  handle(request: IncomingMessage, response: ServerResponse, url: URL): boolean {
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(url.pathname);
    if (file !== null) {
      this.#file(response, file[1] ?? "", decodeURIComponent(file[2] ?? ""));
      return true;
    }
    const call = /^\/bot([^/]+)\/(?:test\/)?([^/]*)$/.exec(url.pathname);
    if (call === null) return false;
    readBody(request, maxBodyBytes).then(
      (body) => {
        if (body === undefined) send(response, errorAnswer(new BotApiError(413, "Request Entity Too Large")));
        else this.#call(request, response, url, decodeURIComponent(call[1] ?? ""), call[2] ?? "", body);
      },
      () => response.destroy(), // the caller has closed the connection
    );
    return true;
  }

  #file(response: ServerResponse, token: string, path: string): void {
    const file = [...this.#options.world.files.values()].find((candidate) => candidate.path === path);
    if (token !== this.#options.token || file === undefined) {
      send(response, errorAnswer(new BotApiError(404, "Not Found")));
      return;
    }
    response.writeHead(200, {
      "content-type": "application/octet-stream",
      "content-length": file.bytes.length,
    });
    response.end(file.bytes);
  }

  #call(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    token: string,
    method: string,
    body: Buffer,
  ): void {
    if (token !== this.#options.token) {
      const error = /^\d+:[\w-]+$/.test(token)
        ? new BotApiError(401, "Unauthorized")
        : new BotApiError(404, "Not Found");
      send(response, errorAnswer(error));
      return;
    }
    const raw = readParameters(request.headers["content-type"] ?? "", body, url.searchParams);
    if (raw instanceof BotApiError) {
      send(response, errorAnswer(raw));
      return;
    }
    const { api, faults, log } = this.#options;
    const call = api.begin(method, raw);
    const fault = faults.take(call);
    if (fault !== undefined) {
      log.update(call, { fault: fault.kind });
      this.#fail(response, call, raw, fault);
      return;
    }
    if (call.method === "getUpdates") {
      this.#poll(request, response, call, raw);
      return;
    }
    this.#answer(response, call, api.process(call, raw));
  }

  /** Logs the answer before it is sent: a test that waits for the log continues when the bot can know the answer. */
  #answer(response: ServerResponse, call: ApiCall, answer: BotApiAnswer): void {
    if (response.destroyed) {
      this.#options.log.update(call, { outcome: "dropped" });
      return;
    }
    this.#options.api.answered(call, answer);
    send(response, answer);
  }

  #fail(response: ServerResponse, call: ApiCall, raw: RawParameters, fault: FaultKind): void {
    const { api, clock, log } = this.#options;
    const drop = (): void => {
      log.update(call, { outcome: "dropped" });
      response.destroy();
    };
    switch (fault.kind) {
      case "429":
        return this.#answer(response, call, errorAnswer(tooManyRequests(fault.retryAfter)));
      case "400":
        return this.#answer(
          response,
          call,
          errorAnswer(new BotApiError(400, prefixed("Bad Request: ", fault.description))),
        );
      case "403":
        return this.#answer(
          response,
          call,
          errorAnswer(new BotApiError(403, prefixed("Forbidden: ", fault.description))),
        );
      case "rich-refused":
        return this.#answer(response, call, errorAnswer(richRefusal(call.method, fault.unknown)));
      case "5xx":
        return this.#serverError(response, call, fault.status ?? 502, fault.body ?? "html");
      case "slow":
        clock.setTimeout(() => this.#answer(response, call, api.process(call, raw)), fault.delayMs);
        return;
      case "hang":
        if (fault.processed) api.process(call, raw);
        response.on("close", () => log.update(call, { outcome: "dropped" }));
        return;
      case "cut-before":
        return drop();
      case "cut-after":
        api.process(call, raw);
        return drop();
      case "late":
        clock.setTimeout(() => api.process(call, raw), fault.delayMs);
        return drop();
    }
  }

  #serverError(response: ServerResponse, call: ApiCall, status: number, kind: "html" | "json"): void {
    const title =
      status === 504
        ? "504 Gateway Time-out"
        : status === 502
          ? "502 Bad Gateway"
          : `${status} Internal Server Error`;
    this.#options.log.update(call, { outcome: "error", errorCode: status, description: title });
    if (kind === "json") {
      send(response, { ok: false, error_code: status, description: title.slice(4) });
      return;
    }
    const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>\r\n`;
    response.writeHead(status, { "content-type": "text/html", "content-length": Buffer.byteLength(body) });
    response.end(body);
  }

  /** Answers a long poll when there is an update, the time is over, or the bot closes the connection. */
  #poll(request: IncomingMessage, response: ServerResponse, call: ApiCall, raw: RawParameters): void {
    const { api, clock, nextChange } = this.#options;
    const seconds = Math.min(Number(raw.values.timeout ?? 0) || 0, maxPollSeconds);
    const until = clock.now() + seconds * 1000;
    let timer = clock.setTimeout(() => undefined, 0);
    const ask = (): void => {
      clock.clearTimeout(timer);
      if (request.destroyed && !request.complete) return;
      const answer = api.process(call, raw);
      const isEmpty = answer.ok && Array.isArray(answer.result) && answer.result.length === 0;
      const leftMs = until - clock.now();
      if (!isEmpty || leftMs <= 0 || response.destroyed) {
        this.#answer(response, call, answer);
        return;
      }
      let isWoken = false;
      const wake = (): void => {
        if (isWoken) return;
        isWoken = true;
        ask();
      };
      timer = clock.setTimeout(wake, leftMs);
      void nextChange().then(wake);
    };
    ask();
  }
}

function richRefusal(method: string, isUnknown: boolean): BotApiError {
  if (!isUnknown) return new BotApiError(400, "Bad Request: RICH_MESSAGE_CONTENT_REQUIRED");
  return method === "editMessageText"
    ? new BotApiError(400, "Bad Request: message text is empty")
    : new BotApiError(404, "Not Found: method not found");
}

function prefixed(prefix: string, description: string): string {
  return description.startsWith(prefix) ? description : prefix + description;
}

function readParameters(
  contentType: string,
  body: Buffer,
  query: URLSearchParams,
): RawParameters | BotApiError {
  try {
    return parseBody(contentType, body, query);
  } catch (error) {
    if (error instanceof BotApiError) return error;
    throw error;
  }
}

function send(response: ServerResponse, answer: BotApiAnswer): void {
  const body = JSON.stringify(answer);
  const retryAfter = answer.ok ? undefined : answer.parameters?.retry_after;
  response.writeHead(answer.ok ? 200 : answer.error_code, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
  });
  response.end(body);
}

/** Reads the whole body. Undefined if it is longer than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  return size <= maxBytes ? Buffer.concat(chunks) : undefined;
}
