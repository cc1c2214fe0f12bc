import { STEP_BREAK } from "../core/turn/step-break.ts";
import type { UIMessage, UIMessageChunk } from "ai";

/** Receives the text of a reply while it streams. */
export interface ReplyTextSink {
  append(delta: string): void;
  replace(text: string): void;
  /**
   * The model call was interrupted and is made again. The streamed text stays until the new text is as long, or whole.
   * The new text begins with a `replace`, which includes the text from before that call.
   */
  interrupt(): void;
}

interface JoinedText {
  readonly text: string;
  /** True if a tool call came after the last text. The next text is then a separate paragraph. */
  readonly afterTool: boolean;
}

const PARAGRAPH = `${STEP_BREAK}\n\n`;

/**
 * Returns the text of an assistant message. A step break and a blank line separate the text before and after a tool
 * call. Text that the model continued after an interruption is joined as it is.
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

/** Follows the events of one operation, keeps its text so far, and tells a sink every change. */
export class ReplyText {
  readonly #sink: ReplyTextSink;
  #joined: JoinedText;
  /** True if a model call started over. The sink gets the whole text with the next word, so it never shows a blank. */
  #isVoid = false;

  /** @param parts the stored parts of the message */
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

  /** Notes that the model call of the last of these parts was interrupted and is made again. */
  onInterrupted(parts: UIMessage["parts"]): void {
    this.#advance(joinParts(parts));
    this.#sink.interrupt();
    // The sink compares the new text as a whole, even if nothing of the interrupted call must be removed.
    this.#isVoid = true;
  }

  /** Sets the stored message. It counts, whatever was streamed before. */
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
