import { MANNERS } from "./draw-cards.ts";
import type { Place, PlanItem } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** The share of plans with cards in which people write numbers. */
const WITH_NUMBERS = 0.7;

/**
 * Numbers that people write in groups, before and after a card: nobody answers one there that belongs to no card. The
 * options of a card are numbered if the number of the card is odd.
 */
export function drawNumbers(
  random: Random,
  places: readonly Place[],
  cards: readonly PlanItem[],
): readonly PlanItem[] {
  const groups = places.flatMap(({ isDirectMessage }, index) => (isDirectMessage ? [] : [index]));
  const [first, ...others] = groups;
  const posted = cards.filter((item) => item.kind === "card");
  if (posted.length === 0 || first === undefined || !random.chance(WITH_NUMBERS)) return [];
  return posted.flatMap((card) =>
    Array.from({ length: random.int(1, 4) }, (_, index): PlanItem => {
      const place = groups.includes(card.place) && random.chance(0.8) ? card.place : undefined;
      return {
        kind: "type-number",
        at: Math.max(0, card.at + random.int(-1_500, 16_000)),
        place: place ?? random.pick([first, ...others]),
        token: `n${card.token.slice(1)}${index}`,
        number: random.pick([1, 1, 2, 2, 3]),
        manner: random.pick(MANNERS),
      };
    }),
  );
}
