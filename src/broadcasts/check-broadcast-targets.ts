import { closestName } from "../core/closest-name.ts";
import { InvalidInputError } from "../core/errors.ts";
import type { BroadcastTargets, ManyTargets } from "../core/broadcast.ts";

const WORDS: readonly ManyTargets[] = ["subscribers", "all"];

/**
 * Refuses a word that names no chats, which may be a misspelt one.
 *
 * @throws {InvalidInputError} `broadcast-invalid`
 */
export function checkBroadcastTargets(targets: BroadcastTargets): void {
  const word: unknown = [targets].flat().find((target: unknown) => typeof target === "string");
  const isAlone = !Array.isArray(targets);
  if (typeof word !== "string" || (isAlone && WORDS.some((known) => known === word))) return;
  const meant = isAlone ? closestName(word, WORDS) : undefined;
  const known = WORDS.map((one) => `"${one}"`).join(" or ");
  const advice = meant === undefined ? `Use ${known}.` : `Did you mean "${meant}"?`;
  throw new InvalidInputError(
    "broadcast-invalid",
    `The broadcast cannot be sent: "${word.slice(0, 64)}" names no chats. ${advice} A conversation is { conversation: "its name" }.`,
  );
}
