import {
  closesFence,
  indentOf,
  isBlank,
  isFootnoteDefinition,
  isHeading,
  isThematicBreak,
  parseFence,
  parseListMarker,
  removeIndent,
} from "./line.ts";
import type { Fence } from "./line.ts";

/**
 * A quote, list item or footnote around a line. The lines inside begin with `prefix`; the first line of an item or
 * footnote begins with `opener`.
 */
export type Container =
  | { readonly kind: "quote"; readonly prefix: string }
  | {
      readonly kind: "item";
      readonly opener: string;
      readonly prefix: string;
      /** Undefined for bullets. */
      readonly number: number | undefined;
    }
  | { readonly kind: "footnote"; readonly opener: string; readonly prefix: string };

export interface Position {
  /** Outermost first. */
  readonly containers: readonly Container[];
  /** The line that opened the code block that is still open, without the containers around it. */
  readonly fenceLine: string | undefined;
  /** True if no paragraph is open: the next text begins a block, even without a blank line before it. */
  readonly endsBlock: boolean;
}

export const TOP_POSITION: Position = { containers: [], fenceLine: undefined, endsBlock: true };

/**
 * An empty heading at the start of every item and footnote of `openerLines`, because an empty item cannot hold the next
 * text. It is never shown.
 */
const NOTHING = "#";
const QUOTE = /^ {0,3}>/;
const FOOTNOTE_INDENT = 4;

/**
 * Finds the position after these lines of one block. `start` is the position before them. `firstNumber` is the number
 * of the first item in them.
 */
export function positionAfter(lines: readonly string[], start: Position, firstNumber?: number): Position {
  const reader = new ContainerReader(start, firstNumber);
  for (const line of lines) reader.line(line);
  return { containers: reader.containers, fenceLine: reader.fenceLine, endsBlock: reader.endsBlock };
}

/** Returns the text before a line that continues inside the containers. */
export function prefixOf(containers: readonly Container[]): string {
  return containers.map(({ prefix }) => prefix).join("");
}

/** Returns lines that open the containers again, without any text. */
export function openerLines(containers: readonly Container[]): readonly string[] {
  let prefix = "";
  const lines: string[] = [];
  for (const container of containers) {
    if (container.kind !== "quote") lines.push(prefix + container.opener + NOTHING);
    prefix += container.prefix;
  }
  return lines;
}

class ContainerReader {
  containers: readonly Container[];
  fenceLine: string | undefined;
  #fence: Fence | undefined;
  #insideParagraph: boolean;
  /** Number of the first item, whatever number the text has. */
  #firstNumber: number | undefined;

  constructor({ containers, fenceLine, endsBlock }: Position, firstNumber: number | undefined) {
    this.containers = containers;
    this.fenceLine = fenceLine;
    this.#fence = fenceLine === undefined ? undefined : parseFence(fenceLine);
    this.#insideParagraph = !endsBlock;
    this.#firstNumber = firstNumber;
  }

  get endsBlock(): boolean {
    return !this.#insideParagraph;
  }

  line(line: string): void {
    let rest = line;
    let depth = 0;
    for (const container of this.containers) {
      const inside = contentOf(rest, container);
      if (inside === undefined) break;
      rest = inside;
      depth += 1;
    }
    const isInside = depth === this.containers.length;
    if (this.#fence !== undefined && isInside) {
      if (closesFence(rest, this.#fence)) this.#closeFence();
      return;
    }
    this.#closeFence();
    if (isBlank(rest)) {
      this.containers = this.containers.slice(0, depth);
      this.#insideParagraph = false;
      return;
    }
    const left = this.containers[depth];
    const { opened, text } = this.#open(rest, left);
    const isLazy = opened.length === 0 && this.#insideParagraph && isText(text);
    if (!isLazy) this.containers = [...this.containers.slice(0, depth), ...opened];
    this.#insideParagraph = isText(text);
    const fence = parseFence(text);
    if (fence === undefined) return;
    this.#fence = fence;
    this.fenceLine = text;
  }

  /** Finds the containers that begin in a line. `left` is the container that the line may end. */
  #open(line: string, left: Container | undefined): { opened: readonly Container[]; text: string } {
    const opened: Container[] = [];
    let text = line;
    for (;;) {
      const quoted = contentOf(text, ANY_QUOTE);
      if (quoted !== undefined) {
        opened.push(ANY_QUOTE);
        text = quoted;
        continue;
      }
      if (opened.length === 0 && isFootnoteDefinition(text)) {
        const opener = /^.*?\]:[ \t]*/.exec(text)?.[0] ?? "";
        opened.push({ kind: "footnote", opener, prefix: " ".repeat(FOOTNOTE_INDENT) });
        text = text.slice(opener.length);
        continue;
      }
      const marker = parseListMarker(text);
      if (marker === undefined) return { opened, text };
      const isSibling = opened.length === 0 && left?.kind === "item";
      const interrupts = marker.number === undefined || marker.number === 1;
      if (this.#insideParagraph && opened.length === 0 && !isSibling && (marker.empty || !interrupts))
        return { opened, text };
      const opener = openerOf(text, marker.contentColumn);
      opened.push({
        kind: "item",
        opener,
        prefix: " ".repeat(marker.contentColumn),
        number: this.#numberOf(marker, isSibling ? left : undefined),
      });
      text = removeIndent(text.replace(MARKER, blank), marker.contentColumn);
    }
  }

  #numberOf(
    { kind, number }: { readonly kind: string; readonly number: number | undefined },
    before: (Container & { readonly kind: "item" }) | undefined,
  ): number | undefined {
    const first = this.#firstNumber;
    this.#firstNumber = undefined;
    if (number === undefined) return undefined;
    const goesOn = before?.number !== undefined && before.opener.includes(kind);
    return goesOn ? (before.number ?? 0) + 1 : (first ?? number);
  }

  #closeFence(): void {
    this.#fence = undefined;
    this.fenceLine = undefined;
  }
}

const ANY_QUOTE: Container = { kind: "quote", prefix: "> " };
const MARKER = /^ *(?:[-*+]|\d{1,9}[.)])/;

function blank(marker: string): string {
  return " ".repeat(marker.length);
}

/** Returns the marker with the spaces around it, as wide as the indentation of the item. */
function openerOf(line: string, contentColumn: number): string {
  return (MARKER.exec(line)?.[0] ?? "").padEnd(contentColumn);
}

/** Returns the text of a line inside an open container; undefined if the line is outside it. */
function contentOf(line: string, { kind, prefix }: Container): string | undefined {
  if (kind === "quote") return QUOTE.test(line) ? line.replace(/^ {0,3}> ?/, "") : undefined;
  if (isBlank(line)) return line;
  return indentOf(line) >= prefix.length ? removeIndent(line, prefix.length) : undefined;
}

/** True if the line begins or continues a paragraph. */
function isText(line: string): boolean {
  return !isBlank(line) && !isHeading(line) && !isThematicBreak(line) && parseFence(line) === undefined;
}
