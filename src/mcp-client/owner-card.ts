import { z } from "zod";
import { alert } from "../core/chat/card-press.ts";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import type { CardContent } from "../core/message/content.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import { shortLine } from "../core/text/short-line.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { MCP_CLIENT } from "./mcp-client-calls.ts";
import type { McpClientOptions } from "./mcp-client-options.ts";
import type { ToolPin } from "./tool-pin.ts";

/** Tools about which one card asks. */
const MOST_ON_CARD = 8;
const LONGEST_DESCRIPTION = 300;

const payloadSchema = z.strictObject({
  server: z.string(),
  hashes: z.array(z.string()),
  isAllowed: z.boolean(),
});

/** The place where decisions are stored. */
interface Decided {
  decide(server: string, hashes: readonly string[], isAllowed: boolean): number;
}

/** The cards that ask the bot's owner whether the model may use tools. The root posts them. */
export class OwnerCards {
  readonly #host: FeatureHost<unknown>;
  readonly #owner: NonNullable<McpClientOptions["owner"]> | undefined;

  constructor(host: FeatureHost<unknown>, { owner }: McpClientOptions) {
    this.#host = host;
    this.#owner = owner;
  }

  /** Asks about tools, eight on a card. Returns `false` if the owner cannot be reached. */
  async ask(
    server: string,
    tools: readonly ToolPin[],
    isChange: (tool: ToolPin) => boolean,
  ): Promise<boolean> {
    const { directories, thread } = this.#host;
    if (this.#owner === undefined) return false;
    const target = await directories.resolveTarget(this.#owner);
    if (target.kind !== "found") return false;
    for (let at = 0; at < tools.length; at += MOST_ON_CARD) {
      const some = tools.slice(at, at + MOST_ON_CARD);
      const id = `mcp-tools:${server}:${sha256Now(some.map(({ hash }) => hash).join()).slice(0, 32)}`;
      thread.postCard(id, target.address, cardOf(server, some, isChange), MCP_CLIENT.name);
    }
    this.#host.wakeSoon();
    return true;
  }

  /** Takes a press. Only the owner's counts. Undefined if the card is another one's. */
  pressed(
    { cardId, event, payload, person }: CardPress,
    catalogues: Decided,
  ): Promise<PressAnswer> | undefined {
    const parsed = payloadSchema.safeParse(payload);
    if (!parsed.success) return undefined;
    const owner = this.#owner;
    if (owner === undefined || person?.userId !== owner.userId || event.messengerId !== owner.messenger)
      return Promise.resolve(alert("Only the bot's owner decides about this."));
    const { hashes, isAllowed, server } = parsed.data;
    const count = catalogues.decide(server, hashes, isAllowed);
    const words =
      count === 0
        ? `The tools of "${server}" have changed since. You are asked about them as they are now.`
        : `${isAllowed ? "Allowed" : "Not allowed"}: ${count} ${count === 1 ? "tool" : "tools"} of "${server}".`;
    this.#host.thread.cards.revise(cardId, { kind: "card", text: escapeMarkdown(words) }, "leave", true);
    return Promise.resolve(undefined);
  }
}

function cardOf(
  server: string,
  tools: readonly ToolPin[],
  isChange: (tool: ToolPin) => boolean,
): CardContent {
  const hashes = tools.map(({ hash }) => hash);
  const [it, count] = tools.length === 1 ? ["it", "1 tool"] : ["them", `${tools.length} tools`];
  const payload = { server, hashes };
  return {
    kind: "card",
    text: `The server **${escapeMarkdown(server)}** offers ${count} that the bot does not use yet. May it use ${it}? The descriptions are the server's own words.`,
    fields: tools.map((tool) => ({
      label: shortLine(`${tool.name}${isChange(tool) ? " (changed)" : ""}`, 200),
      value: shortLine(tool.description, LONGEST_DESCRIPTION) || "No description.",
    })),
    buttons: [
      [
        { kind: "callback", label: `Allow ${count}`, payload: { ...payload, isAllowed: true } },
        { kind: "callback", label: "Don't allow", payload: { ...payload, isAllowed: false } },
      ],
    ],
  };
}
