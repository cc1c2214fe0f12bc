import type { ActionOptions, ApproverRole } from "../actions/declare/action.ts";
import type { FlexibleSchema } from "ai";

/** Options of `mcpClient`. */
export interface McpClientOptions<Env = unknown> {
  /**
   * The servers whose tools the bot may use, by name, or a function that makes them of the environment. A name has 1 to 24
   * small letters, digits and `-`; the model sees the tools as `<name>__<tool>`.
   */
  readonly servers: McpServers | ((env: Env) => McpServers);
  /**
   * The person who is asked in their private chat about each new or changed tool. Without an answer the model does not
   * see it.
   *
   * @default nobody is asked; see `/switchboard/mcp-tools`
   */
  readonly owner?: { readonly messenger: string; readonly userId: string };
  /** Most tools of one server. Later ones are left out, and `/health` says so. @default 40 */
  readonly maxTools?: number;
}

/** The servers of a bot, by name. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** A server of the Model Context Protocol, as the bot uses it. Its rules count for all its tools. */
export interface McpServer extends McpToolRules {
  /** Address of its streamable HTTP transport: https, or this machine. */
  readonly url: string;
  /** Headers of each request, such as `{ authorization: "Bearer ..." }`. They go to this origin only. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whose rights the calls have. `"person"`: each person signs in at the server (OAuth 2.1), and calls run with the token
   * of the person who asks. An object does the same with a client that you have registered yourself. Needs `PUBLIC_URL`
   * and `SECRETS_KEY` in the environment; the address of the callback is `<PUBLIC_URL>/oauth/<name>`.
   *
   * @default the bot's, by `headers`
   */
  readonly auth?: "person" | McpOAuthClient;
  /**
   * Whether a tool that calls itself read-only counts as one: its calls ask nobody and leave no record. Servers can say
   * anything, so this is for those that you trust.
   *
   * @default false
   */
  readonly trustAnnotations?: boolean;
  /** The names of the tools that are used. @default all */
  readonly only?: readonly string[];
  /** Rules for single tools, by their names at the server. @default none */
  readonly tools?: Readonly<Record<string, McpToolRules>>;
  /** Whether the address may be plain http on another machine: everybody between can read the headers. @default false */
  readonly allowInsecure?: boolean;
}

/** The bot as a client of a server's authorization server. */
export interface McpOAuthClient {
  readonly clientId: string;
  /** @default none: a public client, with PKCE */
  readonly clientSecret?: string;
  /** The permissions that people are asked for, with spaces between them. @default those that the server names */
  readonly scope?: string;
}

/** Rules for the calls of a tool. They are those of an action. */
export interface McpToolRules extends Pick<
  ActionOptions<FlexibleSchema, unknown>,
  "permissions" | "requesterMayApprove" | "askIn" | "timeoutMs"
> {
  /**
   * Whether people are asked before a call.
   *
   * @default true, except for tools that only read, with `trustAnnotations`
   */
  readonly approval?: boolean | ((call: McpCall) => boolean | Promise<boolean>);
  /** The people who may decide: see `ActionOptions.approvers`. @default those of an action */
  readonly approvers?: "requester" | "anyone" | readonly (string | number)[] | ApproverRole;
  /** Whether people may agree to further calls at once: see `ActionOptions.grantable`. @default no */
  readonly grantable?: true;
}

/** One call, as a function `approval` gets it. */
export interface McpCall {
  /** The name at the server. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}
