import type { ModelMessage, UIMessage } from "ai";

export const LOAD = "load_context";
export const UNLOAD = "unload_context";

/** The model reads this in the place of a text that it has dropped. */
const DROPPED = "(Dropped by unload_context. load_context brings it again.)";

/** Returns messages without the texts that the model has loaded and dropped later. They stay stored. */
export function withoutUnloaded(messages: readonly UIMessage[]): readonly UIMessage[] {
  const dropped = new Set<string>();
  return messages
    .toReversed()
    .map((message) => {
      const parts = message.parts
        .toReversed()
        .map((part) => {
          if (!("toolCallId" in part) || part.state !== "output-available") return part;
          const text = textOf(part.input);
          if (part.type === `tool-${UNLOAD}`) dropped.add(text);
          return part.type === `tool-${LOAD}` && dropped.has(text) ? { ...part, output: DROPPED } : part;
        })
        .toReversed();
      return dropped.size === 0 ? message : { ...message, parts };
    })
    .toReversed();
}

/** Whether the model has loaded a text, and not dropped it since. */
export function isLoaded(messages: readonly ModelMessage[], wanted: object, ownCall: string): boolean {
  const calls = messages.flatMap(({ content, role }) =>
    role !== "assistant" || typeof content === "string"
      ? []
      : content.flatMap((part) =>
          part.type === "tool-call" && part.toolCallId !== ownCall && textOf(part.input) === textOf(wanted)
            ? [part.toolName]
            : [],
        ),
  );
  return calls.findLast((name) => name === LOAD || name === UNLOAD) === LOAD;
}

/** Names the text of a call. */
function textOf(input: unknown): string {
  const { key, label } =
    typeof input === "object" && input !== null ? (input as { key?: unknown; label?: unknown }) : {};
  return JSON.stringify([label, key]);
}
