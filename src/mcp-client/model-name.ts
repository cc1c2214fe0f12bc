import { sha256Now } from "../core/bytes/sha256.ts";

/** Longest name of a tool that all providers take. */
const LONGEST = 64;
const HASH_LENGTH = 6;

/**
 * Returns the name under which the model sees a tool: `<server>__<tool>`. A name that no provider takes is changed and
 * gets a hash, so that two tools of a server keep two names. Names of servers have no `_`.
 */
export function modelNameOf(server: string, tool: string): string {
  const name = `${server}__${tool}`;
  if (/^[\w-]+$/.test(name) && name.length <= LONGEST) return name;
  const hash = sha256Now(name).slice(0, HASH_LENGTH);
  return `${name.replaceAll(/[^\w-]/g, "_").slice(0, LONGEST - HASH_LENGTH - 1)}_${hash}`;
}
