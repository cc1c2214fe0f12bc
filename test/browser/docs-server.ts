import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { FakeOAuth } from "../support/fake-oauth.ts";

export interface DocsServer {
  readonly url: string;
  readonly oauth: FakeOAuth;
  /** Resolves when a request for this path is there. It is answered after `release`, or never. */
  hold(path: string): { readonly reached: Promise<void>; release: () => void };
  close(): Promise<void>;
}

/** A server of the Model Context Protocol on this machine, at which people sign in. Its tool says who called it. */
export async function startDocsServer(): Promise<DocsServer> {
  let held: { readonly path: string; reached: () => void; readonly released: Promise<void> } | undefined;
  const server = createServer((incoming, outgoing) => {
    const answered = (async () => {
      const { pathname } = new URL(incoming.url ?? "", url);
      if (held?.path === pathname) {
        const { reached, released } = held;
        held = undefined;
        reached();
        await released;
      }
      const body = incoming.method === "POST" ? { body: await buffer(incoming) } : {};
      const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
      const request = new Request(new URL(incoming.url ?? "", url), {
        method: incoming.method ?? "GET",
        headers: headers as [string, string][],
        ...body,
      });
      const response = (await oauth.answer(request)) ?? (await tools(request));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    })();
    // The caller was killed in the middle of its request.
    answered.catch(() => outgoing.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const oauth = new FakeOAuth(url);

  function tools(request: Request): Promise<Response> {
    const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
    const handler = createMcpHandler(() => {
      const mcp = new McpServer({ name: "docs", version: "1" }, { capabilities: { tools: {} } });
      mcp.server.setRequestHandler("tools/list", () => ({
        tools: [
          { name: "whose", description: "Says whose mail it is.", inputSchema: { type: "object" as const } },
        ],
      }));
      mcp.server.setRequestHandler("tools/call", () => ({
        content: [{ type: "text" as const, text: `mail of ${oauth.tokens.get(token) ?? "nobody"}` }],
      }));
      return mcp;
    });
    return handler.fetch(request);
  }

  return {
    url: `${url}/mcp`,
    oauth,
    hold(path) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = { path, reached: reached.resolve, released: released.promise };
      return { reached: reached.promise, release: released.resolve };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
