/** Markdown in, messages out: the whole face of this folder. */
export { hashContent } from "./pack/hash.ts";
export { Planner, splitText } from "./planner.ts";
export type { Part, PartLimits, PlannerOptions } from "./pack/part.ts";
export type { MarkCost, Renderer } from "./pack/renderer.ts";
export type { Mark, Piece } from "./pack/piece.ts";
