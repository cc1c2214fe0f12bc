/**
 * A message as blocks, for platforms that show headings, lists and tables themselves. Plain JSON, without anything that
 * a platform would refuse: no text and no list is empty, but for cells and the paragraph of an empty item.
 */
export type MessageBlock =
  | { readonly type: "paragraph"; readonly text: readonly InlineText[] }
  | { readonly type: "heading"; readonly level: HeadingLevel; readonly text: readonly InlineText[] }
  | { readonly type: "code"; readonly text: string; readonly language?: string }
  | { readonly type: "formula"; readonly expression: string }
  | { readonly type: "divider" }
  | { readonly type: "quote"; readonly blocks: readonly MessageBlock[] }
  | { readonly type: "list"; readonly items: readonly ListItemBlock[] }
  /** Every row has the same number of cells. */
  | { readonly type: "table"; readonly rows: readonly (readonly TableCellBlock[])[] };

/** 1 is the largest. */
export type HeadingLevel = 1 | 2 | 3 | 4 | 5 | 6;

/** Either all items of a list have a number, or none has. */
export interface ListItemBlock {
  readonly number?: number;
  /** Set for the items of a list of tasks. */
  readonly isChecked?: boolean;
  readonly blocks: readonly MessageBlock[];
}

export interface TableCellBlock {
  readonly isHeader: boolean;
  readonly align: "left" | "center" | "right";
  /** Nothing in an empty cell. */
  readonly text: readonly InlineText[];
}

export type InlineText =
  | string
  | { readonly type: "bold" | "italic" | "strikethrough" | "code"; readonly text: readonly InlineText[] }
  | { readonly type: "link"; readonly url: string; readonly text: readonly InlineText[] }
  | { readonly type: "formula"; readonly expression: string };
