import { wait } from "../../core/base/deps.ts";
import { restAfter } from "../../core/base/rest-after.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { Action, FailedRun } from "../declare/action.ts";
import { MOST_RETRIES } from "../declare/check-action-options.ts";
import { ActionError } from "../declare/action-errors.ts";
import type { ActionHost, ActionRequest } from "./action-host.ts";
import type { ActionLedger, Claim, NextRun } from "../ledger/ledger.ts";
import { storeOutcome } from "./store-outcome.ts";

const USUAL_RETRIES = 3;
const FIRST_REST_MS = 400;
const LONGEST_REST_MS = 10_000;
const ON_ERROR_TIMEOUT_MS = 10_000;

export type AnyFailedRun = FailedRun<unknown, unknown>;

/** A call that has begun in the ledger. */
interface ClaimedRun {
  readonly ledger: ActionLedger;
  readonly key: string;
  readonly claim: Extract<Claim, { kind: "run" | "interrupted" }>;
}

async function wantsRetry({ retry }: Action, failed: AnyFailedRun): Promise<boolean> {
  const { error, failures } = failed;
  if (retry === undefined || retry === false || failures > MOST_RETRIES) return false;
  if (typeof retry === "function") return retry(failed as never);
  if (error instanceof ActionError) return false;
  return failures <= (retry === true ? USUAL_RETRIES : retry);
}

/**
 * Begins the next run of a call in the ledger, after a rest. Undefined if there is none.
 *
 * @param kind `unknown`: the run may have had its effect, so only a key of the action allows another one
 */
export async function nextClaim(
  host: ActionHost,
  { action, name, signal }: ActionRequest,
  { claim, key, ledger }: ClaimedRun,
  kind: "failed" | "unknown",
  failed: AnyFailedRun,
): Promise<ClaimedRun["claim"] | undefined> {
  if (kind === "unknown" && (action.idempotencyKey === undefined || host.leaseMs === false)) return undefined;
  try {
    if (!(await wantsRetry(action, failed))) return undefined;
  } catch (error) {
    host.onFailure(name, error);
    return undefined;
  }
  try {
    await wait(host.clock, restAfter(failed.failures, FIRST_REST_MS, LONGEST_REST_MS), signal);
  } catch {
    // The turn was stopped.
    return undefined;
  }
  let next: NextRun | undefined;
  await storeOutcome(host, name, async () => {
    next = await ledger.again(key, claim.runId);
  });
  return next && { ...next, kind: kind === "unknown" ? "interrupted" : claim.kind };
}

/** Tells the action that its last run has failed. Returns the error that the model may read. */
export async function tellFailure(
  host: Pick<ActionHost, "clock" | "onFailure">,
  { action, name }: Pick<ActionRequest, "action" | "name">,
  failed: AnyFailedRun,
): Promise<unknown> {
  const { onError } = action;
  if (onError === undefined) return failed.error;
  try {
    const told = Promise.resolve(onError(failed as never));
    await withinTime(host.clock, ON_ERROR_TIMEOUT_MS, told, `onError of ${name}`);
    return failed.error;
  } catch (error) {
    host.onFailure(name, error);
    return error instanceof ActionError ? error : failed.error;
  }
}
