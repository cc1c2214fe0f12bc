import { canonicalJson } from "../core/json/canonical-json.ts";
import type { Json } from "../core/message/content.ts";
import { sha256 } from "../core/bytes/sha256.ts";

const LENGTH = 32;

/**
 * Returns the id of the run of a call, which every repetition of the call has. A turn may use an id of a call twice, with
 * another input.
 */
export async function callId(requestId: string, toolCallId: string, input: unknown): Promise<string> {
  const hash = await sha256(canonicalJson([requestId, toolCallId, (input ?? null) as Json]));
  return `agent-tool:${hash.slice(0, LENGTH)}`;
}
