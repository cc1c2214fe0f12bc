import { createExecutionContext } from "cloudflare:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { createWorker } from "../../../src/index.ts";
import { mcpServer } from "../../../src/mcp/index.ts";
import type { McpServerOptions } from "../../../src/mcp/index.ts";
import { testEnv } from "../test-env.ts";
import { ScriptedBot } from "../worker.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

const ADMIN = "of-the-operator";
const ADDRESS = "https://bot.example/mcp";

/** A token as its creator asks for it, over HTTP. */
export interface AskedToken {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly person?: { readonly messenger: string; readonly userId: string };
  readonly days?: number;
  readonly perMinute?: number;
  readonly atOnce?: number;
}

export interface MadeToken {
  readonly token: string;
  readonly record: { readonly id: string };
}

/** A bot whose actions are tools, and the clients that use them. */
export class McpWorld {
  readonly world: World;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor(world: World) {
    this.world = world;
    const worker = createWorker<object>(ScriptedBot, { root: world.root });
    this.#fetch = async (request) => {
      const env = { ...testEnv, ADMIN_TOKEN: ADMIN };
      const response = await worker.fetch?.(request as never, env, createExecutionContext());
      if (response === undefined) throw new Error("no response");
      return response;
    };
  }

  /** Sends a request to the Worker. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#fetch(new Request(new URL(path, ADDRESS), init));
  }

  /** Sends a request of the operator. */
  operate(path: string, init: RequestInit = {}): Promise<Response> {
    return this.fetch(path, { ...init, headers: { authorization: `Bearer ${ADMIN}` } });
  }

  async token(asked: AskedToken = {}): Promise<MadeToken> {
    const body = JSON.stringify({ name: "agent", scopes: ["*"], ...asked });
    const response = await this.operate("/switchboard/tokens", { method: "POST", body });
    if (response.status !== 201) throw new Error(await response.text());
    return response.json();
  }

  /** Sends one message of the protocol as it is. */
  post(token: string, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch("/mcp", {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: typeof message === "string" ? message : JSON.stringify(message),
    });
  }

  /** Calls a tool as a client of 2026 does, and returns the result of the answer. */
  async call(
    token: string,
    name: string,
    input: unknown,
    { id = 1, meta = {}, capabilities = {}, params = {} }: RawCall = {},
  ): Promise<Record<string, unknown>> {
    return this.ask(token, "tools/call", { name, arguments: input, ...params }, { id, meta, capabilities });
  }

  /** Sends a request as a client of 2026 does. Returns its result, or `{ error }`. */
  async ask(
    token: string,
    method: string,
    params: Record<string, unknown>,
    { id = 1, meta = {}, capabilities = {} }: RawCall = {},
  ): Promise<Record<string, unknown>> {
    const response = await this.post(token, modernRequest(id, method, params, capabilities, meta), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": nameIn(params),
    });
    const answer = await readAnswer(response);
    return (answer["result"] as Record<string, unknown> | undefined) ?? answer;
  }

  /** Connects the official client. */
  async connect(
    token: string,
    {
      mode = "auto",
      options = {},
    }: { readonly mode?: "auto" | "legacy"; readonly options?: ClientOptions } = {},
  ): Promise<Client> {
    const client = new Client({ name: "test", version: "1" }, { ...options, versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(ADDRESS), {
        fetch: (url, init) => this.#fetch(new Request(url, init)),
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    );
    return client;
  }
}

export interface RawCall {
  readonly id?: string | number;
  readonly meta?: Record<string, unknown>;
  readonly capabilities?: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
}

/** The tool or task of a request, which a header repeats. */
function nameIn({ name, taskId }: Record<string, unknown>): string {
  const named = name ?? taskId;
  return typeof named === "string" ? named : "";
}

function modernRequest(
  id: string | number,
  method: string,
  params: Record<string, unknown>,
  capabilities: Record<string, unknown>,
  meta: Record<string, unknown>,
): object {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...meta,
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}

/** Reads an answer in JSON, or the last event of a stream. */
export async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data);
  return JSON.parse(events.at(-1) ?? text) as Record<string, unknown>;
}

/** Gives the bot's class a server for a world. Call the returned function after the test. */
export function createMcpWorld(options: WorldOptions = {}, server: Partial<McpServerOptions> = {}): McpWorld {
  ScriptedBot.mcpServer = mcpServer({ app: "shop", ...server });
  return new McpWorld(createWorld(options));
}

/** Takes the server away from the bot's class, which other tests share. */
export function dropMcpServer(): void {
  ScriptedBot.mcpServer = undefined;
}
