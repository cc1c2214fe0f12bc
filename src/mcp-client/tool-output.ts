import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { ReplyAttachment } from "../core/message/reply-attachment.ts";
import { hideSecrets } from "../core/text/hide-secrets.ts";
import type { McpServer } from "./mcp-client-options.ts";

/** The result of a tool: the part for the model, and the files for the person. */
export interface ToolOutput {
  readonly output: unknown;
  readonly attachments: readonly ReplyAttachment[];
}

const MOST_ATTACHMENTS = 8;
const LONGEST_ERROR = 2_000;

/** Makes the result of a tool readable. Pictures and other bytes are no text, so they become parts of the reply. */
export function toolOutputOf({ content, isError, structuredContent }: CallToolResult): ToolOutput {
  const attachments: ReplyAttachment[] = [];
  const texts = content.map((block) => textOf(block, attachments)).filter((text) => text !== "");
  const text = texts.join("\n\n");
  // The words of a failure are the server's, so they are a result and never an exception, which is logged.
  if (isError === true) return { output: toolError(text.slice(0, LONGEST_ERROR)), attachments: [] };
  if (structuredContent === undefined) return { output: text, attachments };
  // The text repeats the structured content, beside words about files.
  const notes = attachments.length > 0 ? { attachments: texts.filter((one) => one.startsWith("[")) } : {};
  return { output: { ...(structuredContent as object), ...notes }, attachments };
}

/** A failure in the words of the server, as the model reads failures. */
export function toolError(message: string): object {
  return { error: { name: "McpToolError", message: message === "" ? "The tool failed." : message } };
}

function textOf(block: ContentBlock, attachments: ReplyAttachment[]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return attach(block.type, block.data, block.mimeType, attachments);
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return resource.text;
      return attach("document", resource.blob, resource.mimeType ?? "application/octet-stream", attachments);
    }
    default:
      return block satisfies never;
  }
}

function attach(
  type: "image" | "audio" | "document",
  data: string,
  mediaType: string,
  attachments: ReplyAttachment[],
): string {
  const what = type === "document" ? "file" : type;
  const bytes = attachments.length < MOST_ATTACHMENTS ? bytesOf(data) : undefined;
  if (bytes === undefined) return `[One ${what} could not be shown.]`;
  attachments.push({ type, source: bytes, mediaType });
  return `[One ${what}, which the person sees below the answer.]`;
}

function bytesOf(data: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    // The server's base64 is broken.
    return undefined;
  }
}

/** Returns a result without the server's address and headers. */
export function withoutSecrets(
  output: unknown,
  { headers = {}, url }: Pick<McpServer, "headers" | "url">,
): unknown {
  return hideSecrets(output, [...Object.values(headers), url, ...new URL(url).searchParams.values()]);
}
