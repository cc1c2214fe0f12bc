import { drawTrouble } from "./draw-trouble.ts";
import type { Place, PlanItem, PlatformKind, PressManner } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** The share of plans with cards. */
const WITH_CARDS = 0.2;

/** The behaviours of handlers of presses. */
export const MANNERS: readonly [PressManner, ...PressManner[]] = [
  "nothing",
  "toast",
  "toast",
  "alert",
  "slow",
  "hang",
  "throws",
  "revises",
  "revises",
  "removes",
];

/** Cards that commands and the bot's own code post and change, people who press their buttons, and trouble for both. */
export function drawCards(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // Where messages can be neither changed nor removed, all that a card has said stays.
  if (!random.chance(WITH_CARDS) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  let presses = 0;
  for (let card = random.int(1, 2); card > 0; card -= 1) {
    const token = `k${card}`;
    const at = random.int(0, 9_000);
    const place = random.int(0, places.length - 1);
    const by = random.chance(0.5) ? "command" : "bot";
    items.push({ kind: "card", at, place, by, from: random.int(0, places.length - 1), token });
    for (let left = random.int(0, 3); left > 0; left -= 1) {
      const times = random.chance(0.4) ? 2 : 1;
      items.push({ kind: "revise-card", at: at + random.int(20, 12_000), token, times });
    }
    if (random.chance(0.3)) items.push({ kind: "remove-card", at: at + random.int(500, 15_000), token });
    for (let left = random.int(1, 4); left > 0; left -= 1) {
      const press = {
        kind: "press-card",
        at: at + random.int(300, 20_000),
        card: token,
        button: random.pick<"keep" | "own">(["keep", "own"]),
        isOld: random.chance(0.35),
        manner: random.pick(MANNERS),
      } as const;
      // Twice at once, or a moment later.
      if (random.chance(0.15)) {
        const died = press.at + random.int(30, 3_000);
        const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
        items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 500) });
      }
      for (let again = random.chance(0.3) ? 2 : 1; again > 0; again -= 1) {
        items.push({ ...press, at: press.at + random.int(0, 30), token: `x${(presses += 1)}` });
      }
    }
  }
  return [...items, ...drawTrouble(random)];
}
