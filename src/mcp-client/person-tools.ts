import { z } from "zod";
import type { OfferContext } from "../actions/declare/action-context.ts";
import type { Action } from "../actions/declare/action.ts";
import { ActionError } from "../actions/declare/action-errors.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { McpClientCalls, PersonKey } from "./mcp-client-calls.ts";

/** Age at which a conversation asks again to which servers a person is connected. */
const FRESH_MS = 10_000;

type PersonCalls = Pick<McpClientCalls, "connectedTo" | "personToken" | "sendLink" | "toolsOf">;

/** What the root has said of a person. */
interface Known {
  readonly at: number;
  readonly servers: readonly string[];
  readonly tools: Readonly<Record<string, readonly string[]>>;
  /** The turn that has asked. It does not ask twice. */
  readonly turn: string | undefined;
}

/** The conversation in which calls run. */
export interface CallingThread {
  /** Returns the people's messages that a turn answers. */
  messagesOf(turnId: string): readonly Pick<MessengerEvent, "author">[];
  readonly own: { info(turnId: string): Pick<TurnInfo, "answerTo"> | undefined };
}

const SEVERAL =
  "This turn answers several people, or tells words of another one, so it uses nobody's own connection. Ask the person to write alone, after this answer.";
const UNSEEN =
  "An agent that works for a group uses nobody's own connection, because no answer would say whose it is. Say that the conversation itself can.";

/**
 * People's own connections, as one conversation uses them. A call has the connection of the one person for whom it runs,
 * and in a group only where its answer can say so. Runs of schedules and prompts of bot code have the rights of their
 * person in everything else, but no connection: nobody is there to see it used.
 */
export class PersonTools {
  readonly #root: () => PersonCalls;
  readonly #now: () => number;
  readonly #thread: () => CallingThread;
  readonly #known = new Map<string, Known>();

  constructor(root: () => PersonCalls, now: () => number, thread: () => CallingThread) {
    this.#root = root;
    this.#now = now;
    this.#thread = thread;
  }

  /** Whether the tools of a server are offered: to one person, who is connected. */
  async isConnected(server: string, ctx: Caller): Promise<boolean> {
    return (
      (await this.#knownOf(ctx, ({ servers }) => servers.includes(server)))?.servers.includes(server) === true
    );
  }

  /** Whether a tool is offered: to one person, for whom its server lists it. */
  async isListed(server: string, hash: string, ctx: Caller): Promise<boolean> {
    const known = await this.#knownOf(ctx, ({ tools }) => tools[server] !== undefined);
    return known?.tools[server]?.includes(hash) === true;
  }

  /** Returns what is known of the person of a call. It is asked for again where it is old, or not enough. */
  async #knownOf(ctx: Caller, isEnough: (known: Known) => boolean): Promise<Known | undefined> {
    const person = this.#personOf(ctx);
    if (typeof person === "string") return undefined;
    const key = `${person.messenger}/${person.userId}`;
    const known = this.#known.get(key);
    const isFresh = known !== undefined && this.#now() - known.at < FRESH_MS;
    if (isFresh && (isEnough(known) || known.turn === ctx.requestId)) return known;
    const root = this.#root();
    const [servers, tools] = await Promise.all([root.connectedTo(person), root.toolsOf(person)]);
    const asked = { at: this.#now(), turn: ctx.requestId, servers, tools };
    this.#known.set(key, asked);
    return asked;
  }

  /** Forgets to which servers people are connected. */
  forget(): void {
    this.#known.clear();
  }

  /** Returns the token with which a call runs. */
  async token(server: string, ctx: Caller, refused?: string): Promise<string> {
    const person = this.#personOf(ctx);
    if (typeof person === "string") throw new ActionError(person);
    let token: string | undefined;
    try {
      token = await this.#root().personToken(server, person, refused);
    } catch {
      // The log of the root has the reason.
      throw new ActionError(`The sign-in of "${server}" cannot be reached now. Nothing was done.`);
    }
    if (token !== undefined) return token;
    this.forget();
    throw new ActionError(
      `The person is not connected with "${server}" any more. Nothing was done. Call connect_${server}, which sends a link.`,
    );
  }

  /** Returns the tool that a person sees who is not signed in. */
  connectAction(server: string): Action {
    return defineAction({
      description: `Connects the person with "${server}": sends the person a private link to sign in. Its tools can be used after that.`,
      inputSchema: z.object({}),
      enabled: async (ctx: OfferContext) =>
        ctx.person !== undefined && !(await this.isConnected(server, ctx)),
      execute: async (_input, ctx) => {
        const person = this.#personOf(ctx);
        if (typeof person === "string") throw new ActionError(person);
        const { fullName, userName } = ctx.person ?? {};
        const isSent = await this.#root().sendLink(server, person, fullName ?? userName ?? person.userId);
        if (!isSent)
          throw new ActionError(
            "The person has no private chat with the bot, and a link to sign in goes nowhere else. Ask the person to open one, press Start and ask there.",
          );
        return "The link is in the private chat with the person. Say that, and do not wait: the person writes again after the sign-in.";
      },
    });
  }

  /** Returns the one person of a call, or why there is none. */
  #personOf({ chat, client, people, person, requestId }: Caller): PersonKey | string {
    const authors = this.#thread()
      .messagesOf(requestId)
      .map(({ author }) => author);
    // A message without an author is somebody else's, too.
    const isOne = [...people, ...authors].every((author) => author?.userId === person?.userId);
    const { kind, messengerId: messenger } = client;
    if (
      person === undefined ||
      person.isChat === true ||
      !isOne ||
      kind !== "chat" ||
      messenger === undefined
    )
      return SEVERAL;
    const isSeen = this.#thread().own.info(requestId)?.answerTo.length !== 0;
    return chat?.isDirectMessage === false && !isSeen ? UNSEEN : { messenger, userId: person.userId };
  }
}

type Caller = Pick<OfferContext, "chat" | "client" | "people" | "person" | "requestId">;
