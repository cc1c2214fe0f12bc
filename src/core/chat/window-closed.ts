/**
 * Code of a chat in which the platform delivers messages only for some time after the person has written. That time is
 * over.
 */
export const WINDOW_CLOSED = "window-closed";
