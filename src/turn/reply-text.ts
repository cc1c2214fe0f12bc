import { STEP_BREAK } from "../core/step-break.ts";
import type { UIMessage, UIMessageChunk } from "ai";

/** Where the text of a reply goes while it streams. */
export interface ReplyTextSink {
  append(delta: string): void;
  /** What was streamed is void; this is the text now. */
  replace(text: string): void;
  /**
   * The model call was cut short and is made again: what was streamed stays until the new text is as long or whole. The
   * new text begins with a `replace`, which also says what was said before that call.
   */
  interrupt(): void;
}

interface JoinedText {
  readonly text: string;
  /** Whether a tool call came after the last text: what follows is a paragraph of its own. */
  readonly afterTool: boolean;
}

const PARAGRAPH = `${STEP_BREAK}\n\n`;

/**
 * The text of an assistant message: what was said before and after a tool call is set apart by a step break and a blank
 * line; what a model continued after an interruption is joined as it is.
 */
export function textOfParts(parts: UIMessage["parts"]): string {
  return joinParts(parts).text;
}

function joinParts(parts: UIMessage["parts"]): JoinedText {
  let joined: JoinedText = { text: "", afterTool: false };
  for (const part of parts) {
    if (part.type === "text") joined = withText(joined, part.text);
    else if (part.type.startsWith("tool-") || part.type === "dynamic-tool")
      joined = { ...joined, afterTool: true };
  }
  return joined;
}

function withText(joined: JoinedText, text: string): JoinedText {
  if (text === "") return joined;
  const separator = joined.afterTool && joined.text.trim() !== "" ? PARAGRAPH : "";
  return { text: joined.text + separator + text, afterTool: false };
}

/** Follows one operation's events and keeps its text so far, telling a sink of every change. */
export class ReplyText {
  readonly #sink: ReplyTextSink;
  #joined: JoinedText;
  /** A model call started over. The sink gets the whole text with the next word, so it never shows a blank. */
  #isVoid = false;

  /** @param parts what is stored of the message already */
  constructor(sink: ReplyTextSink, parts: UIMessage["parts"] = []) {
    this.#sink = sink;
    this.#joined = joinParts(parts);
    if (this.#joined.text !== "") sink.replace(this.#joined.text);
  }

  get text(): string {
    return this.#joined.text;
  }

  onChunk(chunk: UIMessageChunk): void {
    if (chunk.type === "text-delta") this.#advance(withText(this.#joined, chunk.delta));
    else if (chunk.type.startsWith("tool-")) this.#joined = { ...this.#joined, afterTool: true };
  }

  /** The model call that said the last of these parts was cut short and is made again. */
  onInterrupted(parts: UIMessage["parts"]): void {
    this.#advance(joinParts(parts));
    this.#sink.interrupt();
    // The sink compares the new text as a whole, also if nothing of the cut call has to be taken back.
    this.#isVoid = true;
  }

  /** The message as it is stored now: what counts, whatever was streamed. */
  onMessage(parts: UIMessage["parts"]): void {
    this.#advance(joinParts(parts));
  }

  #advance(next: JoinedText): void {
    const before = this.#joined.text;
    this.#joined = next;
    if (next.text === before) return;
    if (!next.text.startsWith(before)) this.#isVoid = true;
    if (next.text.length <= before.length) return;
    if (this.#isVoid) {
      this.#isVoid = false;
      this.#sink.replace(next.text);
    } else {
      this.#sink.append(next.text.slice(before.length));
    }
  }
}
