import { FLAG, optionProblem } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import { closestName } from "../core/text/closest-name.ts";
import { InvalidInputError } from "../core/base/errors.ts";
import type { BroadcastOptions, BroadcastTargets, ManyTargets } from "../core/turn/broadcast.ts";

const WORDS: readonly ManyTargets[] = ["subscribers", "all"];
const OPTIONS: OptionRules<BroadcastOptions> = {
  idempotencyKey: true,
  informModel: FLAG,
  expiresAfterMs: true,
  ignoreQuietHours: FLAG,
  silent: FLAG,
  protect: FLAG,
};

/**
 * Refuses wrong options, and a word that names no chats, which may be a misspelt one.
 *
 * @throws {InvalidInputError} `broadcast-invalid`
 */
export function checkBroadcast(options: BroadcastOptions, targets: BroadcastTargets): void {
  const problem = optionProblem(options, OPTIONS, { owner: "broadcasts.send" }) ?? targetProblem(targets);
  if (problem !== undefined)
    throw new InvalidInputError("broadcast-invalid", `The broadcast cannot be sent: ${problem}`);
}

function targetProblem(targets: BroadcastTargets): string | undefined {
  const word: unknown = [targets].flat().find((target: unknown) => typeof target === "string");
  const isAlone = !Array.isArray(targets);
  if (typeof word !== "string" || (isAlone && WORDS.some((known) => known === word))) return undefined;
  const meant = isAlone ? closestName(word, WORDS) : undefined;
  const known = WORDS.map((one) => `"${one}"`).join(" or ");
  const advice = meant === undefined ? `Use ${known}.` : `Did you mean "${meant}"?`;
  return `"${word.slice(0, 64)}" names no chats. ${advice} A conversation is { conversation: "its name" }.`;
}
