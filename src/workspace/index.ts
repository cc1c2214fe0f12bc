/** Files of a conversation, for the model, the people and the bot's own code. */
export { workspace } from "./create-workspace.ts";
export { createWorkspaceTools } from "./workspace-tools.ts";
export type { WorkspaceToolsOptions } from "./workspace-tools.ts";
export type { Workspace, WorkspaceUsage } from "./conversation-workspace.ts";
export type { FileStat, ReadOperations, WriteOperations } from "./operations.ts";
export type { FileBucket, LargeFiles, WorkspaceOptions, WorkspaceToolName } from "./workspace-options.ts";
export type { BashTool } from "./bash-tool.ts";
