/** A sandbox for JavaScript of strangers, inside of an object. */
export type {
  ExecuteOptions,
  ExecuteResult,
  Executor,
  SandboxConnector,
  SandboxLimit,
  SandboxProvider,
} from "./executor.ts";
export { createQuickJSExecutor } from "./quickjs-executor.ts";
export type { QuickJSExecutorOptions } from "./quickjs-executor.ts";
export type { SandboxLimits } from "./sandbox-limits.ts";
