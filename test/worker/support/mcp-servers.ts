import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { vi } from "vitest";
import { mcpClient } from "../../../src/mcp-client/index.ts";
import type { McpClientOptions, McpServer as DeclaredServer } from "../../../src/mcp-client/index.ts";
import { ScriptedBot } from "../worker.ts";

export interface ServedTool {
  readonly description?: string;
  readonly inputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, boolean>;
  readonly run?: (input: Record<string, unknown>) => CallToolResult | Promise<CallToolResult>;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | null;
}

/** A server of the Model Context Protocol on the network of the tests, made with the official package. */
export class ServedTools {
  readonly url: string;
  tools: Record<string, ServedTool>;
  /** Names and inputs of the calls that reached a tool. */
  readonly calls: (readonly [string, unknown])[] = [];
  readonly requests: SeenRequest[] = [];
  /** Answers a request in place of the server. */
  instead:
    | ((request: Request, method: string) => Response | undefined | Promise<Response | undefined>)
    | undefined;
  readonly #sessions: Set<string> | undefined;

  /** @param hasSessions whether it is a server of 2025 that keeps sessions */
  constructor(url: string, tools: Record<string, ServedTool>, hasSessions = false) {
    this.url = url;
    this.tools = tools;
    this.#sessions = hasSessions ? new Set() : undefined;
  }

  /** The server restarts, and knows none of its sessions. */
  forgetSessions(): void {
    this.#sessions?.clear();
  }

  async answer(request: Request): Promise<Response> {
    const isJson = request.headers.get("content-type")?.includes("json") === true;
    const body = isJson ? await request.clone().json<{ readonly method?: string }>() : undefined;
    const method = body?.method ?? request.method;
    this.requests.push({ method, url: request.url, authorization: request.headers.get("authorization") });
    const other = await this.instead?.(request, method);
    if (other !== undefined) return other;
    const sessions = this.#sessions;
    if (sessions === undefined) return this.#handle(request);
    if (method === "server/discover") return new Response("Bad Request: no session", { status: 400 });
    if (method === "initialize") {
      const response = await this.#handle(request);
      const id = crypto.randomUUID();
      sessions.add(id);
      return new Response(response.body, {
        status: response.status,
        headers: { ...Object.fromEntries(response.headers), "mcp-session-id": id },
      });
    }
    if (!sessions.has(request.headers.get("mcp-session-id") ?? ""))
      return Response.json(
        { jsonrpc: "2.0", error: { code: -32_001, message: "Session not found" }, id: null },
        { status: 404 },
      );
    return this.#handle(request);
  }

  #handle(request: Request): Promise<Response> {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "served", version: "1" }, { capabilities: { tools: {} } });
      const rpc = server.server;
      rpc.setRequestHandler("tools/list", () => ({
        tools: Object.entries(this.tools).map(([name, { annotations, description, inputSchema }]) => ({
          name,
          ...(description !== undefined && { description }),
          inputSchema: { type: "object" as const, ...inputSchema },
          ...(annotations !== undefined && { annotations }),
        })),
      }));
      rpc.setRequestHandler("tools/call", async ({ params }) => {
        const input = params.arguments ?? {};
        this.calls.push([params.name, input]);
        const tool = this.tools[params.name];
        return tool?.run?.(input) ?? { content: [{ type: "text", text: `${params.name} done` }] };
      });
      return server;
    });
    return handler.fetch(request);
  }
}

/** Puts servers on the network, and gives them to the bot's class. */
export function serveTools(
  servers: Readonly<Record<string, ServedTools>>,
  declared: Partial<McpClientOptions> & { readonly rules?: Partial<DeclaredServer> } = {},
): void {
  const { rules, ...options } = declared;
  const real = globalThis.fetch;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    const server = Object.values(servers).find(({ url }) => new URL(url).origin === origin);
    return server === undefined ? real(input, init) : server.answer(request);
  });
  ScriptedBot.mcpClient = mcpClient({
    owner: { messenger: "fake", userId: "ada" },
    servers: Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, { url, ...rules }])),
    ...options,
  });
}

/** Takes the servers away from the bot's class, which other tests share. */
export function dropTools(): void {
  ScriptedBot.mcpClient = undefined;
  vi.restoreAllMocks();
}
