import { unitsOf } from "../../core/text/amount.ts";
import type { Amount } from "../../core/text/amount.ts";
import type { Grant } from "./grant.ts";

/** One call that a limited grant shall cover, as the root counts it. Plain JSON. */
export interface AllowanceClaim {
  /** Id of the use. A claim with the same id counts once. */
  readonly id: string;
  readonly budget: string;
  /** The money of the call. Undefined: none is limited. */
  readonly sum?: { readonly currency: string; readonly units: number; readonly mostUnits: number };
  readonly mostCalls?: number;
}

/** Whether calls of a grant must be claimed at the root. */
export function isLimited({ calls, sum }: Pick<Grant, "calls" | "sum">): boolean {
  return calls !== undefined || sum !== undefined;
}

/** Returns the claim for a call. Undefined if the grant has a sum and the call no amount, or one in another currency. */
export function claimOf(
  { action, budget, calls, id: grantId, sum }: Grant,
  id: string,
  amount: Amount | undefined,
): AllowanceClaim | undefined {
  if (sum !== undefined && amount?.currency !== sum.currency) return undefined;
  const money =
    sum === undefined || amount === undefined
      ? undefined
      : { currency: sum.currency, units: unitsOf(amount), mostUnits: unitsOf(sum) };
  return {
    id,
    budget: JSON.stringify(budget === undefined ? ["grant", grantId] : ["action", action, budget]),
    ...(money !== undefined && { sum: money }),
    ...(calls !== undefined && { mostCalls: calls }),
  };
}
