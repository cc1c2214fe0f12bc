import { z } from "zod";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import type { CardContent } from "../core/message/content.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { CommandResult, ThinkCommands } from "../messengers/declare/commands.ts";
import { MCP_CLIENT } from "./mcp-client-calls.ts";
import type { BegunSignIn, McpClientCalls, PersonKey } from "./mcp-client-calls.ts";

const disconnectSchema = z.strictObject({
  disconnect: z.string(),
  messenger: z.string(),
  userId: z.string(),
});

/** The messages about people's connections, which only a private chat shows. */
export class SignInCards {
  readonly #host: FeatureHost<unknown>;
  readonly #root: () => McpClientCalls;

  constructor(host: FeatureHost<unknown>, root: () => McpClientCalls) {
    this.#host = host;
    this.#root = root;
  }

  /** At the root: sends a link to the person's private chat. Returns `false` if there is none. */
  async sendLink(server: string, person: PersonKey, begin: () => BegunSignIn): Promise<boolean> {
    const { directories, thread } = this.#host;
    const target = await directories.resolveTarget(person);
    if (target.kind !== "found" || !target.address.isDirectMessage) return false;
    const { stateHash, url } = begin();
    thread.postCard(
      `mcp-sign-in:${stateHash}`,
      target.address,
      {
        kind: "card",
        text: `Sign in at **${escapeMarkdown(server)}**, so that I can use it for you. The link is for you alone, and works for 15 minutes.`,
        buttons: [[{ kind: "link", label: "Sign in", url }]],
      },
      MCP_CLIENT.name,
    );
    this.#host.wakeSoon();
    return true;
  }

  /** At the root: tells a person that the sign-in has worked. */
  async tellConnected(server: string, person: PersonKey, state: string): Promise<void> {
    const { directories, thread } = this.#host;
    const target = await directories.resolveTarget(person);
    if (target.kind !== "found" || !target.address.isDirectMessage) return;
    const text = `You are connected with **${escapeMarkdown(server)}**. /connections ends that.`;
    thread.postCard(`mcp-connected:${state}`, target.address, { kind: "card", text }, MCP_CLIENT.name);
    this.#host.wakeSoon();
  }

  commands(): ThinkCommands {
    return {
      connections: {
        description: "Show and end your connections",
        handler: async ({ event }): Promise<CommandResult> => {
          if (event.author === undefined) return undefined;
          if (!event.thread.isDirectMessage) return "Send me /connections in a private chat.";
          return this.#list({ messenger: event.messengerId, userId: event.author.userId });
        },
      },
    };
  }

  /** Takes a press of Disconnect. Undefined if the card is another one's. */
  pressed({ cardId, event, payload, person }: CardPress): Promise<PressAnswer> | undefined {
    const parsed = disconnectSchema.safeParse(payload);
    if (!parsed.success) return undefined;
    const { disconnect: server, ...owner } = parsed.data;
    if (person?.userId !== owner.userId || event.messengerId !== owner.messenger) return Promise.resolve();
    return this.#disconnect(cardId, server, owner);
  }

  async #disconnect(cardId: string, server: string, person: PersonKey): Promise<PressAnswer> {
    await this.#root().disconnect(server, person);
    const list = await this.#list(person);
    this.#host.thread.cards.revise(cardId, list, "leave", (list.buttons ?? []).length === 0);
    return `Disconnected from ${server}.`;
  }

  async #list(person: PersonKey): Promise<CardContent> {
    const servers = await this.#root().connectedTo(person);
    if (servers.length === 0) return { kind: "card", text: "You are not connected with anything." };
    return {
      kind: "card",
      text: "You are connected with:",
      buttons: servers.map((server) => [
        { kind: "callback", label: `Disconnect ${server}`, payload: { disconnect: server, ...person } },
      ]),
    };
  }
}
