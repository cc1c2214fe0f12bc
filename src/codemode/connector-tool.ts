import type { JSONSchema7 } from "ai";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";

/** Facts about a call that its tool may use. */
export interface ToolExecuteContext {
  /** The run of code that calls. It stays the same when the run pauses and goes on. */
  readonly executionId: string;
  /** The person for whom the code runs. Undefined outside a messenger. */
  readonly person?: MessengerAuthor | undefined;
  /** Names this call. A call that is made again after an interruption has the same name. */
  readonly callId: string;
  /** Aborts when the turn is stopped, or after 30 seconds. */
  readonly signal?: AbortSignal | undefined;
}

/** One tool of a connector. */
export interface ConnectorTool {
  readonly description?: string;
  /** JSON Schema of the one argument. @default any object */
  readonly inputSchema?: JSONSchema7;
  /** JSON Schema of the result, for the model. @default unknown */
  readonly outputSchema?: JSONSchema7;
  /** Pauses the run until a person agrees. @default false */
  readonly requiresApproval?: boolean;
  /**
   * `"reexecute"`: the tool only reads. Its results are not kept, and a replay reads again. @default "log"
   */
  readonly replay?: "log" | "reexecute";
  /** The tool changes nothing, so a call that was interrupted is made again. @default false */
  readonly readOnly?: boolean;
  /** Calls with one `ctx.callId` have one effect, so a call that was interrupted is made again. @default false */
  readonly repeatable?: boolean;
  /** Permissions that a call requires. See `authorizeTurn`. @default none */
  readonly permissions?: readonly string[];
  readonly execute: (args: unknown, ctx?: ToolExecuteContext) => unknown;
  /** Undoes a call, or throws an `ActionError` that says why it cannot. @default it cannot be undone */
  readonly revert?: (args: unknown, result: unknown, ctx?: ToolExecuteContext) => unknown;
}

export type ConnectorTools = Readonly<Record<string, ConnectorTool>>;

/** Words for the model about a connector. */
export interface ConnectorDescription {
  readonly name: string;
  readonly instructions?: string | undefined;
  readonly tools: ConnectorTools;
}
