import type { AgentToolDisplayMetadata, AgentToolFailure } from "agents/agent-tools";
import type { FlexibleSchema } from "ai";
import type { BotTexts } from "../core/text/bot-texts.ts";

/** Options of `agentTool`. */
export interface AgentToolOptions<InputSchema extends FlexibleSchema = FlexibleSchema, Output = unknown> {
  /** When the model should call the agent. */
  readonly description: string;
  /** The input of a call. The agent gets it as its question: a text as it is, everything else as JSON. */
  readonly inputSchema: InputSchema;
  /**
   * The result of a call: what `getAgentToolOutput()` of the agent returns, or else its last words read as JSON.
   *
   * @default its last words
   */
  readonly outputSchema?: FlexibleSchema<Output>;
  /** The name of the agent in progress and questions. @default the name of its class */
  readonly displayName?: string;
  /** For the bot's own pages: see `display`. */
  readonly icon?: string;
  readonly display?: AgentToolDisplayMetadata;
  /**
   * Whether a call returns at once, and the result comes as a turn of the conversation. Such an agent cannot ask people.
   *
   * @default false
   */
  readonly detached?: boolean;
}

/** The result of a call that goes on in the background. */
export interface DetachedCall {
  readonly runId: string;
  readonly status: "running";
  readonly note: string;
}

export type AgentToolResult<Output> = string | Output | AgentToolFailure | DetachedCall;

/** The members of the bot's class that are about agents as tools. */
export interface AgentToolMethods {
  readonly maxConcurrentAgentTools: number;
  readonly maxAgentToolDepth: number;
  readonly texts?: BotTexts;
  readonly keepUsageMs: number;
  getAgentToolOutput?(runId: string): unknown;
  destroy(): Promise<void>;
}
