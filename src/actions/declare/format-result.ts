import type { Json } from "../../core/message/content.ts";
import { shortLine } from "../../core/text/short-line.ts";
import type { Action } from "./action.ts";

const LONGEST = 200;

/**
 * Returns an action's result as people and the log see it: one line. Undefined if the action has no `format`, or if that
 * throws.
 */
export function formatResult(
  { format }: Pick<Action, "format">,
  result: { readonly input: unknown; readonly output: Json },
): string | undefined {
  if (format === undefined) return undefined;
  try {
    const line: unknown = format(result as never);
    const short = typeof line === "string" ? shortLine(line, LONGEST) : "";
    return short === "" ? undefined : short;
  } catch {
    // The result itself is shown.
    return undefined;
  }
}
