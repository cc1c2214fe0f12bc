import { convertToModelMessages } from "ai";
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { CHARACTERS_PER_TOKEN, loadFiles } from "./load-files.ts";
import type { LoadFilesOptions } from "./load-files.ts";

export interface ModelMessagesOptions extends LoadFilesOptions {
  readonly tools: ToolSet;
}

/** Returns the newest part of a transcript that fits, as model messages, with stored files loaded. */
export async function toModelMessages(
  history: readonly UIMessage[],
  options: ModelMessagesOptions,
): Promise<ModelMessage[]> {
  const kept = withinLimit(history, options.maxContextTokens);
  const withFiles = await loadFiles(kept, options);
  return convertToModelMessages(withFiles, { tools: options.tools, ignoreIncompleteToolCalls: true });
}

/**
 * Returns the newest whole messages that fit, beginning with a user's message: a model must not see an answer or a tool
 * result without its question. The newest message is kept, however long it is. Empty ones are left out.
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
