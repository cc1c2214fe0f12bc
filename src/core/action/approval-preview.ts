/** One thing that an action changes, for the person who decides. Without `from` it is new. The same as `to`, it stays so. */
export interface ApprovalChange {
  /** The name of the thing: `"Status"`, `"Balance"`. */
  readonly label: string;
  /** Its value today. */
  readonly from?: string | number;
  /** Its value afterwards. */
  readonly to: string | number;
}

/** The difference that an action makes against today: a sentence, or a list of changes. */
export type ApprovalPreview = string | readonly ApprovalChange[];

/** The preview of a call whose own one failed. */
export const PREVIEW_FAILED = "I couldn't find out what this changes.";
