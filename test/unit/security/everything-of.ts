import { inspect } from "node:util";

/** All that a log, a trace, a debugger or another object could read out of a value, as one text. */
export function everythingOf(value: unknown, depth = 0): string {
  const texts = [inspect(value, { depth: 30, showHidden: true, getters: true }), String(value)];
  try {
    texts.push(JSON.stringify(value) ?? "", inspect(structuredClone(value), { depth: 30 }));
  } catch {
    // A cycle, or a function: what it shows was inspected above.
  }
  if (typeof value === "object" && value !== null && depth < 8) {
    // Also what is not enumerable, such as the stack, the message and the cause.
    for (const name of Object.getOwnPropertyNames(value)) {
      texts.push(name, everythingOf((value as Record<string, unknown>)[name], depth + 1));
    }
  }
  return texts.join("\n");
}
