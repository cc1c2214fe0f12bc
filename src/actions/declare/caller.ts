/**
 * See `ActionContext.client`.
 *
 * - `chat`: a turn that answers people, or a call to which somebody has agreed
 * - `schedule`: a run of a schedule
 * - `code`: a prompt of the bot's own code
 * - `mcp`: another agent, over MCP
 */
export interface ActionClient {
  readonly kind: "chat" | "schedule" | "code" | "mcp";
  /** The messenger of the chat that sees the answer. */
  readonly messengerId?: string;
}

/** See `ActionContext.caller`. The bot itself has the id `bot`, another agent that of its token. */
export interface ActionCaller {
  readonly id: string;
  readonly name: string;
  readonly capabilities: {
    /** Whether somebody can see progress. */
    readonly progress: boolean;
    readonly sampling: boolean;
    /** Whether there is a person who can be asked. */
    readonly elicitation: boolean;
  };
}
