import type { Renderer } from "./renderer.ts";

/** A platform's limits for one message, in the platform's own way of counting. */
export interface PartLimits {
  readonly maxLength: number;
  /** `Infinity` where there is no such limit. */
  readonly maxEntities: number;
}

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
}

export interface SplitOptions<Content> extends PlannerOptions<Content> {
  /** False while the text is still streaming: half-written markdown is then shown repaired or held back. */
  readonly final: boolean;
}
