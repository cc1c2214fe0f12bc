/**
 * Work of the splitter, in units that are the same on every machine: characters looked at for the borders of blocks
 * (`scanned`), weight of what the whole parser read (`parsed`), characters that took the short way around it (`skimmed`),
 * pieces put into parts (`placed`), and characters of messages that were written (`rendered`).
 */
export type Work = "scanned" | "parsed" | "skimmed" | "placed" | "rendered";

/** Is told of work when it is done. */
export type Meter = (work: Work, amount: number) => void;

export const unmetered: Meter = () => {};
