import { sha256Now } from "../../core/bytes/sha256.ts";
import type { ApiOperation } from "./api-document.ts";

const MOST_CHARACTERS = 64;
const DIGITS = 12;
/** Names that mean something else on an object. */
const TAKEN: ReadonlySet<string> = new Set([
  "then",
  "constructor",
  "toString",
  "toJSON",
  "valueOf",
  "__proto__",
]);

/**
 * Names the operations of a document for code: by `operationId`, or by method and path. No two have one name: all that
 * want the same one get a hash of their method and path. Their order decides nothing, so a call that waits for consent
 * is never one of its neighbour when the document is sorted differently.
 */
export function operationNames(operations: readonly ApiOperation[]): ReadonlyMap<string, ApiOperation> {
  let named = operations.map((operation) => ({ operation, name: plainName(operation) }));
  for (;;) {
    const counts = new Map<string, number>();
    for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
    if (counts.size === named.length) return new Map(named.map(({ name, operation }) => [name, operation]));
    named = named.map(({ name, operation }) => ({
      operation,
      name: (counts.get(name) ?? 0) > 1 ? `${name}_${hashOf(operation)}` : name,
    }));
  }
}

function plainName({ declared: { operationId = "" }, method, path }: ApiOperation): string {
  const wanted = operationId.trim() === "" ? `${method.toLowerCase()}${path}` : operationId;
  const name = wanted
    .replaceAll(/[^\w$]+/g, "_")
    .replace(/_+$/, "")
    .slice(0, MOST_CHARACTERS);
  return name === "" || /^\d/.test(name) || TAKEN.has(name) ? `_${name}` : name;
}

function hashOf({ method, path }: ApiOperation): string {
  return sha256Now(`${method} ${path}`).slice(0, DIGITS);
}
