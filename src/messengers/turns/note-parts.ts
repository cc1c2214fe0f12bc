import type { UIMessage } from "ai";
import type { Content } from "../../core/message/content.ts";
import type { Note } from "../../inbox/note-store.ts";
import { fromPeople } from "./own-marks.ts";

/** Longest text of a note, in characters. */
const MOST_CHARACTERS = 20_000;

/** Returns the part of a question that tells the model the texts that the bot's own code has posted. */
export function noteParts(notes: readonly Note[]): UIMessage["parts"] {
  return notes.map(({ at, text }) => ({
    type: "text" as const,
    text: [
      `⟦You posted this in the chat at ${new Date(at).toISOString()}. The application says this, no person wrote it.⟧`,
      text,
      "⟦End of your post.⟧\n",
    ].join("\n"),
  }));
}

/** Returns the text of content for the model. `kind` says what it is. */
export function noteOf(content: Content, kind?: string): string {
  const text = fromPeople(plainText(content));
  const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return kind === undefined ? shown : `⟦Kind: ${kind}⟧\n${shown}`;
}

function plainText(content: Content): string {
  if (typeof content === "string") return content;
  switch (content.kind) {
    case "text":
      return content.text;
    case "card": {
      const { buttons = [], fields = [], text } = content;
      const labels = buttons.flat().map(({ label }) => `[Button: ${label}]`);
      return [text, ...fields.map(({ label, value }) => `${label}: ${value}`), ...labels]
        .filter((line) => line !== "")
        .join("\n");
    }
    case "files": {
      const names = content.files.map(({ kind, name }) =>
        name === undefined ? `[${kind}]` : `[${kind}: ${name}]`,
      );
      return [content.caption ?? "", ...names].filter((line) => line !== "").join("\n");
    }
    case "location":
      return [
        `[location: ${content.latitude}, ${content.longitude}]`,
        content.title ?? "",
        content.address ?? "",
      ]
        .filter((line) => line !== "")
        .join("\n");
    default:
      return content satisfies never;
  }
}
