import type { Mutant } from "./machine/mutant.ts";
import type { Plan } from "./plan/plan.ts";
import { simulate } from "./simulate.ts";

/** Returns a plan with only some of its items, by number. */
export function onlyItems(plan: Plan, kept: readonly number[]): Plan {
  return { ...plan, items: plan.items.filter((_item, index) => kept.includes(index)) };
}

/**
 * Returns the items of a failing plan that are enough to break the same invariant. Leaves out one item after the other,
 * until all are needed.
 */
export async function shrink(plan: Plan, mutant: Mutant | undefined): Promise<readonly number[]> {
  let kept = plan.items.map((_item, index) => index);
  const { violation } = await simulate({ plan, mutant });
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const left of kept) {
      const fewer = kept.filter((index) => index !== left);
      const result = await simulate({ plan: onlyItems(plan, fewer), mutant });
      if (result.violation?.invariant !== violation?.invariant) continue;
      kept = fewer;
      isSmaller = true;
    }
  }
  return kept;
}
