import type { CallGroup } from "../core/chat/inner-calls.ts";
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

/** A person of a messenger. */
export interface PersonKey {
  readonly messenger: string;
  readonly userId: string;
}

/** A sign-in that has begun. */
export interface BegunSignIn {
  /** The address of its link. */
  readonly url: string;
  readonly stateHash: string;
}

/** The page of a link. */
export interface SignInPage {
  /** The address at which the person signs in. */
  readonly address: string;
  /** The person whose chat it connects. */
  readonly name: string;
}

/**
 * The end of a sign-in.
 *
 * - `over`: its link has been used, or is too old
 * - `failed`: the authorization server has not given a token, so the link can be opened again
 */
export type SignInAnswer =
  | { readonly kind: "connected"; readonly person: PersonKey }
  | { readonly kind: "over" | "failed" };

/** The calls to the root. */
export interface McpClientCalls {
  /** Sends a person a link privately. Returns `false` if the person has no private chat with the bot. */
  sendLink(server: string, person: PersonKey, name: string): Promise<boolean>;
  signInPage(server: string, state: string): Promise<SignInPage | undefined>;
  finishSignIn(server: string, state: string, code: string, iss: string | undefined): Promise<SignInAnswer>;
  /** Returns the names of the servers to which a person is connected. */
  connectedTo(person: PersonKey): Promise<readonly string[]>;
  /**
   * Returns the hashes of the tools that a server lists for a person, by the servers to which the person is connected.
   * Without a server that cannot be asked now.
   */
  toolsOf(person: PersonKey): Promise<Readonly<Record<string, readonly string[]>>>;
  /** Returns a person's token. Undefined if the person must sign in. `refused`: one that the server does not take. */
  personToken(server: string, person: PersonKey, refused?: string): Promise<string | undefined>;
  disconnect(server: string, person: PersonKey): Promise<boolean>;
  /** Returns the tools. Undefined if they are those of the version that the caller knows. */
  offeredTools(known: string | undefined): Promise<OfferedTools | undefined>;
  /** A server says that its tools have changed, or does not know one. */
  toolsChanged(server: string): Promise<void>;
  listTools(): Promise<readonly ToolState[]>;
  /** Stores a decision about tools, by their hashes. Returns how many of them the server lists now. */
  decideTools(server: string, hashes: readonly string[], isAllowed: boolean): Promise<number>;
}

export const MCP_CLIENT: CallGroup<McpClientCalls> = { name: "mcp-client" };
