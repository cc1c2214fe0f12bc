/**
 * Kinds of work of the splitter, in units that are the same on every machine:
 * - `scanned`: characters read to find the borders of blocks
 * - `parsed`: weight of the text that the full parser must read
 * - `reused`: characters of it whose tree was there from before
 * - `skimmed`: characters that `parseSimple` read instead
 * - `placed`: pieces put into parts
 * - `rendered`: characters of the messages that were written
 */
export type Work = "scanned" | "parsed" | "reused" | "skimmed" | "placed" | "rendered";

/** Called after each step of work with its amount. */
export type Meter = (work: Work, amount: number) => void;

export const unmetered: Meter = () => {};
