import { BlockFlattener } from "./blocks/block-flattener.ts";
import type { PlannerOptions } from "./part.ts";
import type { Piece } from "./piece.ts";
import type { Segment } from "./segment.ts";
import { SegmentFlattener } from "./segment-flattener.ts";

/** Turns segments, in the order of the document, into pieces. */
export interface Flattener {
  flatten(segment: Segment): Piece[];
  /** One that goes on from here without a trace in this one. */
  fork(): Flattener;
}

/** Platforms that show blocks themselves get pieces that name theirs; the others get a text that looks like them. */
export function createFlattener<Content>({ renderer, tableWidth }: PlannerOptions<Content>): Flattener {
  const canLink = (url: string): boolean => renderer.canLink(url);
  if (renderer.blockCost !== undefined) return new BlockFlattener({ canLink });
  return new SegmentFlattener({ canLink, tableWidth: tableWidth ?? 40 });
}
