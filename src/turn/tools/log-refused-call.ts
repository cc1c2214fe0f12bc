import type { Log } from "../../core/base/log.ts";

/** Names that a tool may have. A model may write anything else in its place, such as words of the chat (I10). */
const TOOL_NAME = /^[\w.-]{1,64}$/;

/** Writes the log's line about a call of the model that its tool or action never gets. */
export function logRefusedCall(log: Log, tool: string, code: "tool-unknown" | "input-invalid"): void {
  log.warn("tool.call-refused", { tool: TOOL_NAME.test(tool) ? tool : "(not a name)", code });
}
