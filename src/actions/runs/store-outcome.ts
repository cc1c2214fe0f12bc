import { wait } from "../../core/base/deps.ts";
import { restAfter } from "../../core/base/rest-after.ts";
import type { ActionHost } from "./action-host.ts";

/** Number of tries to store the outcome of a run if the ledger is in another object. */
const MOST_TRIES = 5;
const FIRST_RETRY_MS = 400;

/**
 * Stores the outcome of a run. Returns whether that succeeded. A ledger in another object may be away for a moment; if
 * it stays away, the run counts as interrupted later, and the log says so now.
 */
export async function storeOutcome(
  host: Pick<ActionHost, "clock" | "onFailure">,
  name: string,
  store: () => void | Promise<void>,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await store();
      return true;
    } catch (error) {
      if (tries === MOST_TRIES) {
        host.onFailure(name, error);
        return false;
      }
      await wait(host.clock, restAfter(tries, FIRST_RETRY_MS));
    }
  }
}
