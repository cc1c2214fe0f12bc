import type { Json } from "../core/message/content.ts";
import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { AskedForm } from "../messengers/tools/action-consent.ts";
import type { McpCaller, NewToken, SentToken, TokenRecord } from "./token.ts";
import type { TokenCheck } from "./tokens.ts";

/** JSON Schema of an object. */
export interface ToolSchema {
  readonly type: "object";
  readonly [key: string]: Json;
}

/** A tool as clients see it. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ToolSchema;
  /** Every result that is no error has a `structuredContent` that fits it. */
  readonly outputSchema?: ToolSchema | undefined;
  readonly annotations: { readonly [hint: string]: boolean };
}

/** One call of a tool, as a client sends it. */
export interface ToolCall {
  readonly tool: string;
  readonly input: { readonly [key: string]: Json };
  /** Id of the request. It is the same when a client sends the request again. */
  readonly requestId: string | number;
  /** Chosen by the client for this one effect. */
  readonly idempotencyKey: string | undefined;
  /** Whether the client can ask its person. */
  readonly canAsk: boolean;
  /** The call whose question the client has asked its person. */
  readonly resumes: AskedThere | undefined;
  readonly answer: ClientAnswer | undefined;
}

/** A question that a client asks its person. */
export interface AskedThere {
  readonly callId: string;
  /** Undefined: the question is whether the call may run. */
  readonly questionId?: string | undefined;
}

/** What a client's person has done with a question. `content`: the values of `accept`. */
export interface ClientAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content: Json;
}

/** A part of a result, in the protocol's form. Bytes are in base64. */
export type ResultContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType: string } & (
        | { readonly text: string }
        | { readonly blob: string }
      );
    }
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
    };

/** Result of a tool, in the protocol's form. */
export interface ToolResult {
  readonly content: readonly ResultContent[];
  readonly structuredContent?: { readonly [key: string]: Json };
  readonly isError?: boolean;
}

/** A call that waits for people or takes long, or did. Times are epoch milliseconds. */
export interface CallTask {
  readonly id: string;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly ttlMs: number;
  readonly status: "working" | "completed" | "cancelled";
  /** Whether it waits for people. */
  readonly isWaiting: boolean;
  /** Whether its action has begun, and asks from inside. @default false */
  readonly hasBegun?: boolean | undefined;
  /** How far it is, if it runs and has said that. */
  readonly progress?: string | undefined;
  /** Set if it is completed. */
  readonly result?: ToolResult | undefined;
}

/**
 * Answer to a call.
 *
 * - `result`: it has ended
 * - `ask`: the client shall ask its person, and call again with the answer
 * - `task`: people are asked in a chat, or it takes long
 * - `unknown-tool`: there is no such tool for this caller
 */
export type CallAnswer =
  | { readonly kind: "result"; readonly callId: string; readonly result: ToolResult }
  | {
      readonly kind: "ask";
      readonly callId: string;
      readonly question: string;
      /** Undefined: the client asks for consent. */
      readonly form: AskedForm | undefined;
    }
  | { readonly kind: "task"; readonly callId: string; readonly task: CallTask }
  | { readonly kind: "unknown-tool" };

/** How far a running call is. */
export interface CallProgress {
  readonly step: number;
  readonly message: string;
}

/** The calls of the Worker: the first four to the root, all others to the conversation of the token. */
export interface McpCalls {
  checkToken(sent: SentToken): Promise<TokenCheck>;
  /** @throws {SwitchboardError} `tokens-too-many`, `token-messenger-unknown` */
  createToken(asked: NewToken): Promise<{ readonly token: string; readonly record: TokenRecord }>;
  listTokens(): Promise<readonly TokenRecord[]>;
  /** Returns the token. Undefined if there is none with this id. */
  revokeToken(id: string): Promise<TokenRecord | undefined>;
  listTools(caller: McpCaller): Promise<readonly ToolDescriptor[]>;
  callTool(caller: McpCaller, call: ToolCall): Promise<CallAnswer>;
  /** The client has got the answer to a call. The same request is another call from now on. */
  noteAnswered(callId: string): Promise<void>;
  readTask(id: string): Promise<CallTask | undefined>;
  /** Takes a question back that nobody has decided, or stops a call that runs. */
  cancelCall(caller: McpCaller, id: string): Promise<void>;
  /** Stops what runs, and takes back what people were asked, after the token was revoked. */
  endCalls(tokenName: string): Promise<void>;
  /** Returns the newest progress of a running request. `step` counts from 1. */
  readProgress(requestId: string | number): Promise<CallProgress | undefined>;
  /** Stops the running calls of a request. */
  cancelRequest(requestId: string | number): Promise<void>;
}

export const MCP: CallGroup<McpCalls> = { name: "mcp" };

/** The conversation in which the calls of a token run. Each token has its own. */
export function conversationOfToken(tokenId: string): string {
  return `named:mcp%3A${tokenId}`;
}
