import { ConfigurationError } from "../../core/base/errors.ts";
import type { ActionRequest } from "./action-host.ts";

const LONGEST_KEY = 512;

/**
 * Returns the key of a call in the ledger.
 *
 * @throws {ConfigurationError} `action-key` for a key that is empty or too long
 */
export async function ledgerKeyOf(
  { action, name, requestId, toolCallId }: ActionRequest,
  call: never,
): Promise<string> {
  const { idempotencyKey } = action;
  // Some model servers give the calls of every answer the same ids.
  if (idempotencyKey === undefined) return `action:${name}:call:${requestId}:${toolCallId}`;
  const key: unknown = typeof idempotencyKey === "function" ? await idempotencyKey(call) : idempotencyKey;
  if (typeof key === "string" && key !== "" && key.length <= LONGEST_KEY) return `action:${name}:${key}`;
  throw new ConfigurationError(
    "action-key",
    `The idempotencyKey of the action "${name}" must be a text of 1 to ${LONGEST_KEY} characters.`,
  );
}
