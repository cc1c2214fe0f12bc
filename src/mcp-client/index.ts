/** Tools of servers of the Model Context Protocol, for the bot's model. */
export { mcpClient } from "./mcp-client.ts";
export type {
  McpCall,
  McpClientOptions,
  McpOAuthClient,
  McpServer,
  McpServers,
  McpToolRules,
} from "./mcp-client-options.ts";
