/** Tools and hooks in JavaScript that the bot's code loads and does not trust. */
export { extensions } from "./extensions.ts";
export type {
  ChunkSnapshot,
  ExtensionApi,
  ExtensionFile,
  ExtensionResponse,
  StepSnapshot,
  ToolCallSnapshot,
  ToolResultSnapshot,
  TurnChange,
  TurnSnapshot,
} from "./extension-api.ts";
export type {
  ExtensionCall,
  ExtensionCallRules,
  ExtensionConfig,
  ExtensionContext,
  ExtensionHook,
  ExtensionInfo,
  ExtensionManifest,
  ExtensionPermissions,
  ExtensionRules,
  ExtensionsOptions,
} from "./extension-config.ts";
export type { ExtensionManager } from "./extension-manager.ts";
