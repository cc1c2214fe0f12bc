import { Client, SdkHttpError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Deps } from "../core/base/deps.ts";
import { failureCode } from "../core/base/errors.ts";
import { withTimeLimit } from "../core/time/with-time-limit.ts";
import { CUT_OFF, limitedFetch, TOO_LARGE } from "./limited-fetch.ts";
import type { McpServer } from "./mcp-client-options.ts";
import type { ListedTool } from "./tool-pin.ts";

/** Time to connect, and to list the tools. */
const CONNECT_MS = 15_000;
/** The action of a call has its own time limit. This is about the longest time that a timer can wait. */
const NO_LIMIT_MS = 2 ** 31 - 1;
const MOST_LISTED = 1_000;

export interface ConnectionOptions {
  readonly server: McpServer;
  readonly deps: Pick<Deps, "clock" | "fetch">;
  /** The server says that its tools have changed. */
  readonly onToolsChanged: () => void;
}

/** One call of a tool. */
export interface SentCall {
  readonly tool: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress: (fraction: number | undefined) => void;
}

/** No connection to a server, so nothing was sent to a tool. `cause` says why. */
export class NotConnectedError extends Error {}

interface Open {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/**
 * The connection of one object to one server, in either generation of the protocol.
 *
 * 1. It is made when it is needed first. No request is open between two calls.
 * 2. A server that has forgotten the session gets a new one, and the call once more: it did nothing with the first one.
 *    After any other failure the next call connects again.
 */
export class McpConnection {
  readonly #options: ConnectionOptions;
  #open: Promise<Open> | undefined;
  /** The newest connection, also if it is forgotten. */
  #last: Open | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Returns all tools of the server, as it lists them now. */
  async listTools(): Promise<readonly ListedTool[]> {
    return this.#healing(async ({ client }) => {
      const { tools } = await this.#within((signal) =>
        client.listTools(undefined, { signal, cacheMode: "bypass" }),
      );
      return tools.slice(0, MOST_LISTED);
    });
  }

  /**
   * Calls a tool.
   *
   * @throws {NotConnectedError} if nothing was sent
   */
  async call({ input, inputSchema, onProgress, signal, tool }: SentCall): Promise<CallToolResult> {
    const call = ({ client }: Open): Promise<CallToolResult> =>
      client.callTool(
        { name: tool, arguments: { ...input } },
        {
          signal,
          timeout: NO_LIMIT_MS,
          toolDefinition: { name: tool, inputSchema: { ...inputSchema, type: "object" } },
          onprogress: ({ progress, total }) => onProgress(fractionOf(progress, total)),
        },
      );
    return this.#healing(call, signal);
  }

  /** Forgets the connection. Calls that run end as failures. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    void open?.then(({ client }) => client.close()).catch(() => undefined);
  }

  async #healing<T>(body: (open: Open) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const first = await this.#connected();
    try {
      return await body(first);
    } catch (error) {
      if (isAnswer(error) || signal?.aborted === true) throw error;
      // Another call may have connected again already.
      if (this.#last === first) this.#open = undefined;
      if (!hasLostSession(error, first)) throw error;
    }
    return body(await this.#connected());
  }

  async #connected(): Promise<Open> {
    const opening = (this.#open ??= this.#connect());
    try {
      return await opening;
    } catch (error) {
      if (this.#open === opening) this.#open = undefined;
      throw new NotConnectedError("No connection to the server.", { cause: error });
    }
  }

  async #connect(): Promise<Open> {
    const { deps, onToolsChanged, server } = this.#options;
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: limitedFetch(deps.fetch),
      requestInit: { headers: { ...server.headers } },
    });
    const client = new Client(
      { name: "switchboard", version: "1" },
      { capabilities: {}, versionNegotiation: { mode: "auto" } },
    );
    client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChanged());
    await this.#within((signal) => client.connect(transport, { signal }));
    this.#last = { client, transport };
    return this.#last;
  }

  #within<T>(body: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withTimeLimit(this.#options.deps.clock, CONNECT_MS, body);
  }
}

/** Whether the request has an answer, though with an error of the protocol. */
function isAnswer(error: unknown): boolean {
  return protocolCode(error) !== undefined;
}

/** Returns the code of an answer that is an error of the protocol. */
export function protocolCode(error: unknown): number | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : undefined;
}

/** Names a failure for the log, without any words of the server. */
export function failureReason(error: unknown): string {
  const cause = error instanceof NotConnectedError ? error.cause : error;
  const [code, status] = [protocolCode(cause), statusOf(cause)];
  if (code === TOO_LARGE) return "answer-too-large";
  if (code === CUT_OFF) return "answer-cut-off";
  if (code !== undefined) return `protocol${code}`;
  return status === undefined ? failureCode(cause) : `http-${status}`;
}

/** Servers answer 404 to a session that they do not know, and older ones 400. */
function hasLostSession(error: unknown, { transport }: Open): boolean {
  const status = statusOf(error);
  return transport.sessionId !== undefined && (status === 404 || status === 400);
}

/** Returns the HTTP status of a refusal, also of a connection. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof NotConnectedError ? error.cause : error;
  return cause instanceof SdkHttpError ? cause.status : undefined;
}

function fractionOf(progress: number, total: number | undefined): number | undefined {
  return total === undefined || total <= 0 ? undefined : progress / total;
}

/** Returns a server as one person uses it. */
export function withToken(server: McpServer, token: string): McpServer {
  return { ...server, headers: { ...server.headers, authorization: `Bearer ${token}` } };
}
