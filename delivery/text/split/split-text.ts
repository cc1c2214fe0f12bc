import type { Part, SplitOptions } from "./pack/part.ts";
import { createPlanner } from "./planner.ts";

/**
 * Cuts markdown into the messages of a platform. Pure: the same text gives the same parts.
 *
 * @example
 * const parts = splitText("# Hello\n\n*world*", {
 *   renderer: telegramEntities,
 *   limits: { maxLength: 4096, maxEntities: 100 },
 *   final: true,
 * });
 */
export function splitText<Content>(
  markdown: string,
  options: SplitOptions<Content>,
): readonly Part<Content>[] {
  const planner = createPlanner(options);
  planner.append(markdown);
  if (options.final) planner.finish();
  return planner.parts();
}
