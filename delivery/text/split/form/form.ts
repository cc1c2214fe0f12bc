import type { Root } from "mdast";
import type { Definitions } from "../parse/definitions.ts";
import type { Piece } from "../pack/piece.ts";
import type { MarkdownSegment } from "../scan/segment.ts";

/** What a platform makes of the blocks of a document: a text that looks like them, or pieces that name them. */
export interface Form {
  /** Writes a segment as it is, where it is no markdown. */
  verbatim(text: string, segment: MarkdownSegment): void;
  write(root: Root, segment: MarkdownSegment, definitions: Definitions): void;
  startCode(language: string | undefined): void;
  /** Goes on with the code that was started last. */
  code(text: string): void;
  /** Hands out what was written since the last call. */
  take(): Piece[];
  /** One that goes on from here without a trace in this one. */
  fork(): Form;
}
