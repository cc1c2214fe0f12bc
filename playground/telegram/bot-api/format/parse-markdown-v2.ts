import type { MessageEntity } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { linkEntity } from "./link-entity.ts";
import type { FormattedText } from "./formatted-text.ts";

type Kind =
  | "bold"
  | "italic"
  | "underline"
  | "strikethrough"
  | "spoiler"
  | "code"
  | "pre"
  | "link"
  | "emoji"
  | "blockquote";

interface Open {
  readonly kind: Kind;
  readonly sourceOffset: number;
  readonly offset: number;
  readonly language?: string;
}

const telegramName: Record<Kind, string> = {
  bold: "Bold",
  italic: "Italic",
  underline: "Underline",
  strikethrough: "Strikethrough",
  spoiler: "Spoiler",
  code: "Code",
  pre: "Pre",
  link: "TextUrl",
  emoji: "CustomEmoji",
  blockquote: "BlockQuote",
};

const reserved = "_*[]()~`>#+-=|{}.!";

/**
 * Parses Telegram's MarkdownV2.
 * @throws {BotApiError} with Telegram's wording for unescaped or unclosed markup
 */
export function parseMarkdownV2(source: string): FormattedText {
  return new MarkdownV2Parser(source).parse();
}

class MarkdownV2Parser {
  readonly #source: string;
  readonly #open: Open[] = [];
  readonly #entities: MessageEntity[] = [];
  #at = 0;
  #text = "";
  #inQuote = false;
  #lineStart = true;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): FormattedText {
    while (this.#at < this.#source.length) this.#step();
    if (this.#inQuote) this.#endQuote(this.#source.length);
    const unclosed = this.#open.at(-1);
    if (unclosed !== undefined) throw this.#unclosed(unclosed);
    return { text: this.#text, entities: this.#entities };
  }

  #step(): void {
    const character = this.#source.charAt(this.#at);
    const next = this.#source.charAt(this.#at + 1);
    if (character === "\\" && next !== "" && next <= "~") {
      this.#emit(next);
      this.#at += 2;
      return;
    }
    const inner = this.#open.at(-1);
    const inCode = inner?.kind === "code" || inner?.kind === "pre";
    if (character === "\n" && this.#inQuote && !inCode && next !== ">") {
      this.#endQuote(this.#at);
      this.#emit("\n");
      this.#at += 1;
      return;
    }
    if (!(inCode ? "`" : reserved).includes(character)) {
      this.#emit(character);
      this.#at += 1;
      return;
    }
    const closing = inner === undefined ? undefined : this.#closes(inner);
    if (inner !== undefined && closing !== undefined) this.#close(inner, closing);
    else this.#begin(character);
  }

  #emit(character: string): void {
    this.#text += character;
    if (character !== "\r") this.#lineStart = character === "\n";
  }

  #starts(mark: string): boolean {
    return this.#source.startsWith(mark, this.#at);
  }

  /** Returns the length of the end marker of `open` at this place. Undefined if it does not end here. */
  #closes(open: Open): number | undefined {
    switch (open.kind) {
      case "bold":
        return this.#starts("*") ? 1 : undefined;
      case "italic":
        return this.#starts("_") && !this.#starts("__") ? 1 : undefined;
      case "underline":
        return this.#starts("__") ? 2 : undefined;
      case "strikethrough":
        return this.#starts("~") ? 1 : undefined;
      case "spoiler":
        return this.#starts("||") ? 2 : undefined;
      case "code":
        return this.#starts("`") ? 1 : undefined;
      case "pre":
        return this.#starts("```") ? 3 : undefined;
      case "link":
      case "emoji":
        return this.#starts("]") ? 1 : undefined;
      case "blockquote":
        return undefined;
    }
  }

  #begin(character: string): void {
    const sourceOffset = this.#at;
    const push = (kind: Kind, markLength: number, language?: string): void => {
      this.#open.push({ kind, sourceOffset, offset: this.#text.length, ...(language && { language }) });
      this.#at += markLength;
    };
    if (this.#starts("||")) return push("spoiler", 2);
    if (this.#starts("__")) return push("underline", 2);
    if (this.#starts("```")) {
      const language = /^[^\s`]+(?=\s)/.exec(this.#source.slice(this.#at + 3))?.[0] ?? "";
      push("pre", 3 + language.length, language);
      this.#at += /^(?:\r\n|\n\r|\n|\r)?/.exec(this.#source.slice(this.#at, this.#at + 2))?.[0].length ?? 0;
      return;
    }
    if (this.#starts("![")) return push("emoji", 2);
    switch (character) {
      case "*":
        return push("bold", 1);
      case "_":
        return push("italic", 1);
      case "~":
        return push("strikethrough", 1);
      case "`":
        return push("code", 1);
      case "[":
        return push("link", 1);
      case ">":
        if (!this.#lineStart) break;
        if (this.#inQuote) {
          this.#at += 1;
          return;
        }
        this.#inQuote = true;
        return push("blockquote", 1);
    }
    throw badRequest(
      `can't parse entities: Character '${character}' is reserved and must be escaped with the preceding '\\'`,
    );
  }

  #close(open: Open, markLength: number): void {
    this.#at += markLength;
    const offset = open.offset;
    const length = this.#text.length - offset;
    const url = open.kind === "link" || open.kind === "emoji" ? this.#url(open) : undefined;
    this.#open.pop();
    if (length === 0) return;
    if (open.kind === "link") {
      const entity = linkEntity(url ?? this.#text.slice(offset), offset, length);
      if (entity !== undefined) this.#entities.push(entity);
    } else if (open.kind === "emoji") {
      const id = /^tg:\/\/emoji\?id=(\d+)$/.exec(url ?? "")?.[1];
      if (id === undefined)
        throw badRequest("can't parse entities: Invalid tg://emoji or tg://time URL specified");
      this.#entities.push({ type: "custom_emoji", offset, length, custom_emoji_id: id });
    } else if (open.kind === "pre") {
      this.#entities.push({ type: "pre", offset, length, ...(open.language && { language: open.language }) });
    } else {
      this.#entities.push({ type: open.kind, offset, length });
    }
  }

  #url(open: Open): string | undefined {
    if (!this.#starts("(")) {
      if (open.kind === "link") return undefined;
      throw badRequest("can't parse entities: The entity must contain a tg://emoji or tg://time URL");
    }
    this.#at += 1;
    const start = this.#at;
    let url = "";
    while (this.#at < this.#source.length && !this.#starts(")")) {
      if (this.#starts("\\") && this.#at + 1 < this.#source.length) this.#at += 1;
      url += this.#source.charAt(this.#at);
      this.#at += 1;
    }
    if (!this.#starts(")")) {
      throw badRequest(`can't parse entities: Can't find end of a URL at byte offset ${this.#bytes(start)}`);
    }
    this.#at += 1;
    return url;
  }

  /** Ends a quote. An empty spoiler marker at the end of the last line makes it an expandable one. */
  #endQuote(end: number): void {
    let type: "blockquote" | "expandable_blockquote" = "blockquote";
    const last = this.#open.at(-1);
    if (last?.kind === "spoiler" && last.sourceOffset === end - 2) {
      this.#open.pop();
      type = "expandable_blockquote";
    }
    const quote = this.#open.at(-1);
    if (quote === undefined) return;
    if (quote.kind !== "blockquote") throw this.#unclosed(quote);
    this.#open.pop();
    this.#inQuote = false;
    const length = this.#text.length - quote.offset;
    if (length > 0) this.#entities.push({ type, offset: quote.offset, length });
  }

  #unclosed(open: Open): Error {
    const name = open.kind === "pre" && open.language !== undefined ? "PreCode" : telegramName[open.kind];
    return badRequest(
      `can't parse entities: Can't find end of ${name} entity at byte offset ${this.#bytes(open.sourceOffset)}`,
    );
  }

  #bytes(offset: number): number {
    return Buffer.byteLength(this.#source.slice(0, offset));
  }
}
