import type { Root } from "mdast";
import type { Definitions } from "../parse/definitions.ts";
import type { Piece } from "../pack/piece.ts";
import type { MarkdownSegment } from "../scan/segment.ts";

/** Shows the blocks of a document in one of two ways: as text that looks like them, or as pieces that name them. */
export interface Form {
  /** Writes a segment that is not markdown as it is. */
  verbatim(text: string, segment: MarkdownSegment): void;
  write(root: Root, segment: MarkdownSegment, definitions: Definitions): void;
  startCode(language: string | undefined): void;
  /** Writes more of the code block that was started last. */
  code(text: string): void;
  /** Returns the pieces written since the last call. */
  take(): Piece[];
  /** Returns a form that continues from here and leaves this one unchanged. */
  fork(): Form;
}
