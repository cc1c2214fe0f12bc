import type { CallGroup } from "../core/inner-calls.ts";
import type { Decision } from "./catalogue-store.ts";
import type { ToolPin } from "./tool-pin.ts";

/** The tools to which the owner has agreed, by server. */
export interface OfferedTools {
  /** Changes with the tools. */
  readonly version: string;
  readonly tools: Readonly<Record<string, readonly ToolPin[]>>;
}

/** A tool, as an operator sees it. */
export interface ToolState {
  readonly server: string;
  readonly tool: string;
  readonly hash: string;
  readonly description: string;
  /** `new`: nobody has been asked yet. */
  readonly state: Decision | "new";
}

/** The calls to the root. */
export interface McpClientCalls {
  /** Returns the tools. Undefined if they are those of the version that the caller knows. */
  offeredTools(known: string | undefined): Promise<OfferedTools | undefined>;
  /** A server says that its tools have changed, or does not know one. */
  toolsChanged(server: string): Promise<void>;
  listTools(): Promise<readonly ToolState[]>;
  /** Stores a decision about tools, by their hashes. Returns how many of them the server lists now. */
  decideTools(server: string, hashes: readonly string[], isAllowed: boolean): Promise<number>;
}

export const MCP_CLIENT: CallGroup<McpClientCalls> = { name: "mcp-client" };
