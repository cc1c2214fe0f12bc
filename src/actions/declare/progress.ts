import { escapeMarkdown } from "../../core/message/plain-markdown.ts";
import { shortLine } from "../../core/text/short-line.ts";

/** How far some work is. */
export interface ProgressUpdate {
  /** A few words: "Reading page 3". Never a secret: the chat shows them. */
  readonly message: string;
  /** The part of the work that is done, from 0 to 1. @default not known */
  readonly fraction?: number;
}

const LONGEST_MESSAGE = 200;

/** Returns progress as one line of Markdown. Undefined if there is nothing to say. */
export function progressLine({ fraction, message }: ProgressUpdate): string | undefined {
  const words = shortLine(message, LONGEST_MESSAGE);
  const isKnown = typeof fraction === "number" && fraction >= 0;
  const percent = isKnown ? `${Math.min(100, Math.floor(fraction * 100))} %` : "";
  if (words === "" && percent === "") return undefined;
  return ["⏳", escapeMarkdown(words), percent].filter((part) => part !== "").join(" ");
}
