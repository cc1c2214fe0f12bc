export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[] | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { name: string; arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** One request as the server saw it. */
export interface ModelRequest {
  /** Counts from 0 over the server's life. */
  readonly index: number;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly string[];
  readonly stream: boolean;
  /** Whether the request carried an authorization header; its value is not kept. */
  readonly authorized: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  /** The text sent to the client so far. */
  sentText: string;
  /** The end of the answer, if it has ended. `client-left`: the client went away before the end. */
  state: "running" | "done" | "failed" | "client-left";
  /** Settles when the answer has ended in any way. */
  readonly ended: Promise<void>;
}
