import { OutgoingText } from "../../../src/outgoing/index.ts";
import type { OutgoingContext, OutgoingOptions, OutgoingResult } from "../../../src/outgoing/index.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";

export const group: OutgoingContext = {
  locale: "en",
  event: messageEvent({ thread: { id: "telegram:-1", chatId: "-1", isDirectMessage: false } }),
};
export const direct: OutgoingContext = { locale: "en", event: messageEvent() };

export interface Streamed {
  /** What is visible after each chunk. */
  readonly shown: readonly string[];
  /** How often the sink was told to replace what it showed. */
  readonly replacements: number;
  readonly result: OutgoingResult;
}

/** Streams a text as a person sees it. */
export function streamThrough(
  chunks: readonly string[],
  options: OutgoingOptions = {},
  context: OutgoingContext = group,
): Streamed {
  let visible = "";
  let replacements = 0;
  const outgoing = new OutgoingText(options, context, {
    append: (delta) => {
      visible += delta;
    },
    replace: (text) => {
      visible = text;
      replacements++;
    },
    interrupt: () => {},
  });
  const shown = chunks.map((chunk) => {
    outgoing.append(chunk);
    return visible;
  });
  return { shown, replacements, result: outgoing.finish(chunks.join("")) };
}

export function inChunks(text: string, length: number): readonly string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; start += length) chunks.push(text.slice(start, start + length));
  return chunks;
}
