import type { TextLimits } from "../../../../src/core/message/rich-text.ts";
import type { Meter } from "./meter.ts";
import type { Renderer } from "./renderer.ts";

/** Limits of a platform for one message, counted as the platform counts. They come from its provider. */
export type PartLimits = TextLimits;

export interface Part<Content> {
  readonly index: number;
  /** True if no appended text can change the part any more. */
  readonly complete: boolean;
  readonly content: Content;
  /** Equal for equal content, in every process. */
  readonly hash: string;
}

export interface PlannerOptions<Content> {
  readonly renderer: Renderer<Content>;
  readonly limits: PartLimits;
  /** Widest table that is shown aligned, in columns of a monospaced font. @default 40 */
  readonly tableWidth?: number;
  /** Called after each step of work, for benchmarks and tests. */
  readonly meter?: Meter;
}

export interface SplitOptions<Content> extends PlannerOptions<Content> {
  /** False while the text is still streaming: half-written markdown is then repaired or held back. */
  readonly final: boolean;
}
