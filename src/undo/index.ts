/** A button that undoes what actions did. */
export { undo } from "./undo.ts";
export type { UndoOptions, UndoTexts } from "./undo-options.ts";
