/**
 * A message as blocks, for platforms that show headings, lists and tables themselves. Plain JSON.
 *
 * It holds nothing that a platform refuses: no text and no list is empty, except cells and the paragraph of an empty
 * item.
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

/** An item of a list. Either all items of a list have a number, or none. */
export interface ListItemBlock {
  readonly number?: number;
  /** Set for items of a task list. */
  readonly isChecked?: boolean;
  readonly blocks: readonly MessageBlock[];
}

export interface TableCellBlock {
  readonly isHeader: boolean;
  readonly align: "left" | "center" | "right";
  /** Empty for an empty cell. */
  readonly text: readonly InlineText[];
}

export type InlineText =
  | string
  | { readonly type: "bold" | "italic" | "strikethrough" | "code"; readonly text: readonly InlineText[] }
  | { readonly type: "link"; readonly url: string; readonly text: readonly InlineText[] }
  | { readonly type: "formula"; readonly expression: string };
