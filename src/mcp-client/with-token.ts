import type { McpServer } from "./mcp-client-options.ts";

/** Returns a server as one person uses it. */
export function withToken(server: McpServer, token: string): McpServer {
  return { ...server, headers: { ...server.headers, authorization: `Bearer ${token}` } };
}
