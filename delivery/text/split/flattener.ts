import { BlockForm } from "./blocks/block-form.ts";
import type { Meter } from "./pack/meter.ts";
import type { PlannerOptions } from "./pack/part.ts";
import { SegmentFlattener } from "./segment-flattener.ts";
import { TextForm } from "./form/text-form.ts";

/**
 * Creates the flattener for a platform. If the platform shows blocks itself, pieces name their blocks; otherwise the
 * text looks like them.
 */
export function createFlattener<Content>(
  { renderer, tableWidth }: PlannerOptions<Content>,
  meter: Meter,
): SegmentFlattener {
  const canLink = (url: string): boolean => renderer.canLink(url);
  const options = { canLink, tableWidth: tableWidth ?? 40 };
  const form =
    renderer.blockCost === undefined ? new TextForm(options) : new BlockForm(options, renderer.knows);
  return new SegmentFlattener(form, meter);
}
