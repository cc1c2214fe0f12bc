import { TEXT } from "../core/check-options.ts";
import type { OptionRules } from "../core/check-options.ts";

export interface CodemodeOptions {
  /** Texts that people read. @default English */
  readonly texts?: Partial<CodemodeTexts>;
}

export interface CodemodeTexts {
  /** On the card of a call: a label above the earlier calls of its run. @default "Done before it in this run" */
  readonly doneBefore: string;
}

export const ENGLISH: CodemodeTexts = { doneBefore: "Done before it in this run" };

export const OPTIONS: OptionRules<CodemodeOptions> = { texts: { doneBefore: TEXT } };
