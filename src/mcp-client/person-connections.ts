import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ActionContext } from "../actions/declare/action-context.ts";
import { getTurn } from "../core/turn/turn-context.ts";
import { McpConnection, statusOf, withToken, type ConnectionOptions, type SentCall } from "./connection.ts";
import type { PersonTools } from "./person-tools.ts";
import type { PersonalCalls, PersonalResult } from "./tool-action.ts";

/** Connections that an object keeps to one server. */
const MOST_KEPT = 16;

export interface PersonConnectionsOptions extends ConnectionOptions {
  readonly serverName: string;
  readonly people: PersonTools;
}

/** The connections of one object to one server, each with the token of one person. */
export class PersonConnections implements PersonalCalls {
  readonly #options: PersonConnectionsOptions;
  /** By token. The one that was used last is the last. */
  readonly #kept = new Map<string, McpConnection>();
  /** The turn of the last call. */
  #lastTurn: string | undefined;

  constructor(options: PersonConnectionsOptions) {
    this.#options = options;
  }

  isListed(hash: string, ctx: Parameters<PersonTools["isListed"]>[2]): Promise<boolean> {
    const { people, serverName } = this.#options;
    return people.isListed(serverName, hash, ctx);
  }

  async call(sent: SentCall, ctx: ActionContext): Promise<PersonalResult> {
    const { people, serverName } = this.#options;
    const token = await people.token(serverName, ctx);
    try {
      return this.#done(token, await this.#with(token).call(sent));
    } catch (error) {
      if (statusOf(error) !== 401) throw error;
      // The server has done nothing.
      this.#close(token);
    }
    const newer = await people.token(serverName, ctx, token);
    return this.#done(newer, await this.#with(newer).call(sent));
  }

  #done(token: string, result: CallToolResult): PersonalResult {
    const turn = getTurn()?.id;
    const isFirst = turn === undefined || turn !== this.#lastTurn;
    this.#lastTurn = turn;
    return { token, result, isFirst };
  }

  #with(token: string): McpConnection {
    const { server, ...rest } = this.#options;
    const made = this.#kept.get(token) ?? new McpConnection({ ...rest, server: withToken(server, token) });
    this.#kept.delete(token);
    this.#kept.set(token, made);
    const [oldest = token] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest);
    return made;
  }

  #close(token: string): void {
    this.#kept.get(token)?.close();
    this.#kept.delete(token);
  }
}
