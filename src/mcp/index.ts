/** The bot's actions as tools of the Model Context Protocol. */
export { mcpServer } from "./mcp-server.ts";
export type { McpServerOptions } from "./mcp-server-options.ts";
