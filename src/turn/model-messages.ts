import { convertToModelMessages } from "ai";
import type { ModelMessage, ToolSet, UIMessage } from "ai";

/** How many tokens of a transcript reach the model; roughly four characters of its JSON are one token. */
const CHARACTERS_PER_TOKEN = 4;

export interface ModelMessagesOptions {
  readonly tools: ToolSet;
  /** Older messages beyond this many tokens are left out. */
  readonly maxContextTokens: number;
  /** Turns a stored file into content for the model; `undefined` when it is not a stored reference. */
  readonly resolveFile: (
    url: string,
    mediaType: string,
    name: string | undefined,
  ) => Promise<ResolvedFile | undefined>;
}

export type ResolvedFile =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: "text"; readonly text: string };

/** The newest part of a transcript that fits, as the model reads it, with stored files loaded. */
export async function toModelMessages(
  history: readonly UIMessage[],
  options: ModelMessagesOptions,
): Promise<ModelMessage[]> {
  const kept = withinLimit(history, options.maxContextTokens);
  const withFiles = await Promise.all(kept.map((message) => loadFiles(message, options)));
  return convertToModelMessages(withFiles, { tools: options.tools, ignoreIncompleteToolCalls: true });
}

/**
 * Whole messages from the newest backwards, as many as fit, beginning with a user's: a model must not see an answer or
 * a tool result without what it belongs to. The newest message is kept however long it is. Empty ones are left out.
 */
export function withinLimit(history: readonly UIMessage[], maxContextTokens: number): UIMessage[] {
  const messages = history.filter((message) => message.parts.some((part) => part.type !== "step-start"));
  let room = maxContextTokens * CHARACTERS_PER_TOKEN;
  let start = messages.length;
  while (start > 0) {
    const message = messages[start - 1];
    if (message === undefined) break;
    room -= JSON.stringify(message.parts).length;
    if (room < 0 && start < messages.length) break;
    start -= 1;
  }
  if (start === 0) return messages;
  const firstUser = messages.findIndex((message, index) => index >= start && message.role === "user");
  return messages.slice(firstUser === -1 ? start : firstUser);
}

async function loadFiles(message: UIMessage, options: ModelMessagesOptions): Promise<UIMessage> {
  if (message.role !== "user" || !message.parts.some((part) => part.type === "file")) return message;
  const parts = await Promise.all(
    message.parts.map(async (part): Promise<UIMessage["parts"][number]> => {
      if (part.type !== "file") return part;
      const file = await options.resolveFile(part.url, part.mediaType, part.filename);
      if (file === undefined) return part;
      if (file.kind === "text") return { type: "text", text: file.text };
      return {
        type: "file",
        mediaType: file.mediaType,
        url: `data:${file.mediaType};base64,${toBase64(file.bytes)}`,
        ...(part.filename !== undefined && { filename: part.filename }),
      };
    }),
  );
  return { ...message, parts };
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  const step = 0x8000;
  for (let start = 0; start < bytes.length; start += step) {
    binary += String.fromCharCode(...bytes.subarray(start, start + step));
  }
  return btoa(binary);
}
