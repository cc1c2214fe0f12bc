import { inspect } from "node:util";

/** All that a log, a tracer or a debugger could read of a value. */
export function everythingIn(error: unknown): string {
  const parts = [
    inspect(error, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(error),
    String(error),
  ];
  for (let at: unknown = error; at instanceof Error; at = at.cause) parts.push(at.message, at.stack ?? "");
  return parts.join("\n");
}
