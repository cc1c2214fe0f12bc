import type { IdRange, UnseenIds } from "../src/core/budget.ts";
import type { Address, Probing } from "../src/core/surface.ts";
import { callWithin } from "./call-within.ts";
import type { CallOutcome } from "./call-within.ts";
import { BUDGET_TIMEOUT_MS } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { isOnlyThread } from "./landing.ts";

/**
 * The ids of a range that may hold a lost message. Those that this thread owns are not among them: it may have posted
 * since the search began, and the root may have forgotten what it was told.
 */
export async function unseenIds(
  { budget, deps, outbox }: DeliveryContext,
  address: Address,
  probing: Probing,
  range: IdRange,
): Promise<CallOutcome<UnseenIds>> {
  const outcome = await callWithin(deps.clock, BUDGET_TIMEOUT_MS, () =>
    budget.unseen(address, probing, range),
  );
  if (outcome.kind !== "done") return outcome;
  const { ids, others, isTooLong } = outcome.value;
  const box = probing.box(address);
  const owned = new Set(
    outbox
      .owners(ids.map(String))
      .filter((owner) => probing.box(owner.address) === box)
      .map(({ messageId }) => Number(messageId)),
  );
  const value: UnseenIds = {
    ids: ids.filter((id) => !owned.has(id)),
    others: isOnlyThread(address) ? "none" : others,
    isTooLong,
  };
  return { kind: "done", value };
}
