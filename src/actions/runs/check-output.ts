import type { Json } from "../../core/message/content.ts";
import { invalidOutput } from "../declare/action-errors.ts";
import type { ActionFailure } from "../declare/action-errors.ts";
import type { ActionHost, ActionRequest } from "./action-host.ts";
import { checkValue } from "../../core/json/check-value.ts";
import { normalizeOutput } from "../declare/normalize-output.ts";

/** Returns the output as the model reads it: as `returns` makes it of what `execute` returned, or a failure. */
export async function checkOutput(
  host: Pick<ActionHost, "onInvalidOutput">,
  { action, name }: Pick<ActionRequest, "action" | "name">,
  raw: unknown,
): Promise<{ readonly isValid: boolean; readonly output: Json | ActionFailure }> {
  const { returns, strictOutput = true } = action;
  if (returns === undefined) return { isValid: true, output: normalizeOutput(raw) };
  const checked = await checkValue(returns, raw);
  if (!checked.isValid) host.onInvalidOutput(name, checked.problem);
  if (!strictOutput) return { isValid: true, output: normalizeOutput(raw) };
  if (checked.isValid) return { isValid: true, output: normalizeOutput(checked.value) };
  return { isValid: false, output: invalidOutput(checked.issues) };
}
