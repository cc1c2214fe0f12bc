import type { ModelMessage, UIMessage } from "ai";

/** Longest text of one attribute, in characters. */
const MOST_CHARACTERS = 8_000;

/** Removes secrets from a text. */
type Clean = (text: string) => string;

/** Returns any value as JSON, or a text as it is. */
export function jsonText(value: unknown, clean: Clean): string | undefined {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === undefined ? undefined : clean(text).slice(0, MOST_CHARACTERS);
}

/** Returns the newest question with everything after it, in the form of `gen_ai.input.messages`. */
export function questionText(messages: readonly ModelMessage[], clean: Clean): string | undefined {
  const from = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === "user"),
  );
  const shown = messages.slice(from).map(({ content, role }) => ({
    role,
    parts: typeof content === "string" ? [textPart(content)] : content.map(shownPart),
  }));
  return jsonText(shown, clean);
}

/** Returns the answer of the newest step, in the form of `gen_ai.output.messages`. */
export function answerText({ parts, role }: UIMessage, clean: Clean): string | undefined {
  const start = parts.findLastIndex(({ type }) => type === "step-start");
  return jsonText([{ role, parts: parts.slice(start + 1).map(shownPart) }], clean);
}

function textPart(content: string): object {
  return { type: "text", content };
}

/** Shows the text of a part. Of all others it shows the type, because files and results of tools may be large. */
function shownPart(part: { readonly type: string; readonly text?: unknown }): object {
  return typeof part.text === "string" ? textPart(part.text) : { type: part.type };
}
