/**
 * Separates the texts of two steps of a turn, before the blank line between them. A tag or a thought that is open in
 * one step ends here.
 *
 * It is a control character (RECORD SEPARATOR), which models do not write. `src/outgoing` removes it.
 */
export const STEP_BREAK = "\u001E";
