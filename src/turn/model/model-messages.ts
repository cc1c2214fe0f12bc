import { convertToModelMessages } from "ai";
import type { FilePart, ModelMessage, ToolSet, UIMessage } from "ai";
import { CHARACTERS_PER_TOKEN, loadFiles } from "./load-files.ts";
import type { LoadFilesOptions } from "./load-files.ts";

export interface ModelMessagesOptions extends LoadFilesOptions {
  readonly tools: ToolSet;
  /** Changes the parts of interrupted tool calls. @default nothing */
  readonly repairPart?: RepairPart | undefined;
}

type Part = UIMessage["parts"][number];

/** Returns the part that the model reads instead of that of an interrupted tool call. */
export type RepairPart = (part: Part) => Part;

/** The model reads this of a tool call that a crash interrupted. */
export const INTERRUPTED =
  "The tool call was interrupted before it finished, because the agent restarted. It may or may not have taken effect.";

/** Returns the newest part of a transcript that fits, as model messages, with stored files loaded. */
export async function toModelMessages(
  history: readonly UIMessage[],
  options: ModelMessagesOptions,
): Promise<ModelMessage[]> {
  const kept = repaired(withinLimit(history, options.maxContextTokens), options.repairPart);
  const withFiles = await loadFiles(kept, options);
  const { tools } = options;
  return filesBehindTools(
    await convertToModelMessages(withFiles, { tools, ignoreIncompleteToolCalls: true }),
  );
}

/** Moves the files of tool results into a message of their own: many model servers take files nowhere else. */
function filesBehindTools(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role !== "tool") return [message];
    const files: FilePart[] = [];
    const content = message.content.map((part) => {
      if (part.type !== "tool-result" || part.output.type !== "content") return part;
      const value = part.output.value.filter((one) => {
        // Deprecated forms have text as their data, and stay.
        const isFile = "mediaType" in one && "data" in one && typeof one.data === "object";
        if (isFile) files.push(one as FilePart);
        return !isFile;
      });
      return { ...part, output: { ...part.output, value } };
    });
    return files.length === 0
      ? [message]
      : [
          { ...message, content },
          { role: "user", content: files },
        ];
  });
}

function repaired(history: readonly UIMessage[], repairPart: RepairPart | undefined): readonly UIMessage[] {
  if (repairPart === undefined) return history;
  const isInterrupted = (part: Part): boolean => "errorText" in part && part.errorText === INTERRUPTED;
  return history.map((message) => {
    const { parts } = message;
    return parts.some(isInterrupted)
      ? { ...message, parts: parts.map((part) => (isInterrupted(part) ? repairPart(part) : part)) }
      : message;
  });
}

/**
 * Returns the newest whole messages that fit, beginning with a user's message: a model must not see an answer or a tool
 * result without its question. The newest message and its question are kept, however long they are. Empty ones are
 * left out.
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
  // An answer that alone is too long is the running one: its question stays.
  const question = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(firstUser === -1 ? Math.max(question, 0) : firstUser);
}
