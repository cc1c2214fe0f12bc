import type { TextLimits } from "../../../../src/core/rich-text.ts";
import type { Meter } from "./meter.ts";
import type { Renderer } from "./renderer.ts";

/** A platform's limits for one message, in the platform's own way of counting: data of its provider. */
export type PartLimits = TextLimits;

export interface Part<Content> {
  readonly index: number;
  /** A complete part never changes again, whatever text is appended. */
  readonly complete: boolean;
  readonly content: Content;
  /** Equal for equal content, in every process. */
  readonly hash: string;
}

export interface PlannerOptions<Content> {
  readonly renderer: Renderer<Content>;
  readonly limits: PartLimits;
  /** Widest table, in columns of a monospaced font, that is shown aligned. @default 40 */
  readonly tableWidth?: number;
  /** Is told of the work that is done, for those who measure it. */
  readonly meter?: Meter;
}

export interface SplitOptions<Content> extends PlannerOptions<Content> {
  /** False while the text is still streaming: half-written markdown is then shown repaired or held back. */
  readonly final: boolean;
}
