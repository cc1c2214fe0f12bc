/** Code that a model writes, and that calls tools. */
export { createQuickJSExecutor } from "../sandbox/index.ts";
export type {
  ExecuteOptions,
  ExecuteResult,
  Executor,
  QuickJSExecutorOptions,
  SandboxConnector,
  SandboxLimit,
  SandboxLimits,
  SandboxProvider,
} from "../sandbox/index.ts";
export { ActionConnector, McpConnector } from "./action-connector.ts";
export { codemode } from "./codemode.ts";
export type { CodemodeOptions, CodemodeTexts } from "./codemode-feature.ts";
export { CodemodeConnector } from "./connector.ts";
export type {
  ConnectorDescription,
  ConnectorTool,
  ConnectorTools,
  ToolExecuteContext,
} from "./connector-tool.ts";
export { createExecuteTool } from "./execute-tool.ts";
export type { ExecuteToolOptions } from "./execute-tool.ts";
export { loaderExecutor } from "./loader-executor.ts";
export type { WorkerLoaderBinding } from "./loader-executor.ts";
export { OpenApiConnector } from "./openapi/openapi-connector.ts";
export type { OpenApiOperation } from "./openapi/openapi-connector.ts";
export type { OpenApiCredentials, OpenApiRequestOptions } from "./openapi/openapi-request.ts";
export type { ExecutionState, PendingAction, ProxyToolOutput, RolledBack, ToolLogEntry } from "./outcomes.ts";
export { createCodemodeRuntime } from "./runtime.ts";
export type { CodemodeRuntime, CodemodeRuntimeOptions } from "./runtime.ts";
