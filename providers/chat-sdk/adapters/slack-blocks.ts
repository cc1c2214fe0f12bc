import type { Adapter } from "chat";
import { z } from "zod";
import { isRecord } from "../../../src/core/json/is-record.ts";
import { ChatSdkCallError } from "../errors/call-error.ts";
import { replaceMethod } from "./search/post-key.ts";

/** Slack takes 12,000 characters in all blocks of Markdown of a message. */
const MOST_MARKDOWN = 12_000;
/** `chat.update` takes 4000 bytes of `text`, and notifications show less. */
const MOST_FALLBACK = 1000;
/** Most refusals that are remembered. */
const MOST_REFUSED = 100;

/** Slack cannot show this message as blocks. Nothing was posted. */
const BLOCKS_REFUSED = new Set([
  "block_mismatch",
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
  "msg_too_long",
]);

/** The parts of the adapter that post. */
const parts = z.object({
  _client: z.custom<{ readonly chat: object }>((value) => isRecord(value) && isRecord(value.chat)),
  formatConverter: z.custom<{ toResponseUrlText(message: { readonly markdown: string }): string }>(
    (value) => isRecord(value) && typeof value.toResponseUrlText === "function",
  ),
});
const written = z.looseObject({
  channel: z.string(),
  ts: z.string().optional(),
  markdown_text: z.string(),
});
type Written = z.infer<typeof written>;
const posted = z.object({ ts: z.string() });

/**
 * Lets messages be blocks of the type `markdown`, which show tables. In `markdown_text`, which the adapter sends, Slack
 * shows their source. `text` is for notifications.
 *
 * A message whose blocks Slack refuses fails as `transient`. Its next call has `markdown_text`, with each table in a block
 * of code.
 */
export function showMarkdownInBlocks(adapter: Adapter): void {
  const { data } = parts.safeParse(adapter);
  if (data === undefined) return;
  const { _client: client, formatConverter } = data;
  const refused = new Set<string>();
  const refuse = (key: string): void => {
    const [oldest] = refused;
    if (oldest !== undefined && refused.size >= MOST_REFUSED) refused.delete(oldest);
    refused.add(key);
  };
  const inBlocks = (call: (options: unknown) => unknown) => async (options: unknown) => {
    const message = written.safeParse(options).data;
    if (message === undefined) return call(options);
    const { markdown_text: markdown, ...rest } = message;
    const key = keyOf(message);
    if (markdown.length > MOST_MARKDOWN || refused.has(key)) {
      const answer = await call({ ...rest, markdown_text: await withoutTables(markdown) });
      // Edits of this message are made in the same way.
      const { data: made } = posted.safeParse(answer);
      if (made !== undefined) refuse(keyOf({ ...message, ts: made.ts }));
      return answer;
    }
    try {
      return await call({
        ...rest,
        text: formatConverter.toResponseUrlText({ markdown: beginningOf(markdown) }),
        blocks: [{ type: "markdown", text: markdown }],
      });
    } catch (error) {
      if (!BLOCKS_REFUSED.has(refusalIn(error))) throw error;
      refuse(key);
      throw new ChatSdkCallError("post", { kind: "transient", code: "blocks-refused" });
    }
  };
  replaceMethod(client.chat, "postMessage", inBlocks);
  replaceMethod(client.chat, "update", inBlocks);
}

/** Names a message: one that exists by its time, and a new one by its text. */
function keyOf({ channel, markdown_text: markdown, ts }: Written): string {
  return ts === undefined ? `${channel}:${markdown}` : `${channel}:${ts}`;
}

function refusalIn(error: unknown): string {
  const { data } = isRecord(error) ? error : {};
  return isRecord(data) && typeof data.error === "string" ? data.error : "";
}

function beginningOf(markdown: string): string {
  if (markdown.length <= MOST_FALLBACK) return markdown;
  const beginning = markdown.slice(0, MOST_FALLBACK);
  return beginning.slice(0, Math.max(beginning.lastIndexOf("\n"), beginning.lastIndexOf(" "), 1));
}

/** Puts the tables of a text into blocks of code, unless it then is too long. */
async function withoutTables(markdown: string): Promise<string> {
  const { isTableNode, parseMarkdown, tableToAscii } = await import("chat");
  let text = markdown;
  for (const node of parseMarkdown(markdown).children.toReversed()) {
    const { end, start } = node.position ?? {};
    if (!isTableNode(node) || start?.offset === undefined || end?.offset === undefined) continue;
    text = `${text.slice(0, start.offset)}\`\`\`\n${tableToAscii(node)}\n\`\`\`${text.slice(end.offset)}`;
  }
  return text.length > MOST_MARKDOWN ? markdown : text;
}
