import { inOneLine } from "../../core/text/one-line.ts";
import type { Approval } from "./approval.ts";
import { masked, shortened } from "./input-fields.ts";

/**
 * One line about a request, without the values of its `sensitive` paths. The model wrote parts of it, so it must not look
 * like more lines of a card.
 */
export function summaryOf({
  input,
  sensitive,
  summary,
}: Pick<Approval, "input" | "sensitive" | "summary">): string {
  return shortened(inOneLine(masked(summary, input, sensitive)).replaceAll(/\s+/g, " "));
}
