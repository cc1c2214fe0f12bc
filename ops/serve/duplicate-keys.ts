import { readFileSync } from "node:fs";
import path from "node:path";
import type { Message } from "esbuild";
import { ServeError } from "./serve-error.ts";

/**
 * Describes an object with two entries of one name. JavaScript keeps the last one. Returns nothing for other messages.
 *
 * @throws {ServeError} `duplicate-messenger` if a messenger would be lost by it
 */
export function describeDuplicate({ id, location, text }: Message, folder: string): readonly string[] {
  if (id !== "duplicate-object-key" || location === null) return [];
  const name = /"([^"\n]+)"/.exec(text)?.[1] ?? "";
  const file = path.resolve(location.file);
  const place = `${path.relative(folder, file)}:${location.line}`;
  if (isOfMessengers(readFileSync(file, "utf8"), location.line, location.column)) {
    throw new ServeError(
      "duplicate-messenger",
      `Two messengers have the id "${name}", and the first one would be lost: ${place}. Give one of them another id.`,
    );
  }
  return [`"${name}" stands twice in one object, and the first one is lost: ${place}`];
}

/** Tells whether the object around a place is the parameter of `defineMessengers`. */
export function isOfMessengers(code: string, line: number, column: number): boolean {
  const before = code.split("\n").slice(0, line);
  before.push((before.pop() ?? "").slice(0, column));
  const text = before.join("\n");
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const character = text[at] ?? "";
    if ("})]".includes(character)) depth += 1;
    else if ("{([".includes(character)) {
      if (depth === 0) return character === "{" && /\bdefineMessengers\(\s*$/.test(text.slice(0, at));
      depth -= 1;
    }
  }
  return false;
}
