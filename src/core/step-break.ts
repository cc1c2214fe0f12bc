/**
 * Stands between the texts of two steps of a turn, in front of the blank line that sets them apart, so that what one
 * step left open (a tag, a thought) ends with it. A control character (RECORD SEPARATOR) that no model writes; the last
 * boundary before people takes it out.
 */
export const STEP_BREAK = "\u001E";
