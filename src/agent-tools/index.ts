/** Other agents as tools of a bot's model. */
export { agentTool } from "./agent-tool.ts";
export type { AgentToolOptions, AgentToolResult, DetachedCall } from "./agent-tool-options.ts";
