import { isAmount } from "../../core/text/amount.ts";
import type { Amount } from "../../core/text/amount.ts";
import { PREVIEW_FAILED } from "../../core/action/approval-preview.ts";
import type { ApprovalPreview } from "../../core/action/approval-preview.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import type { Json } from "../../core/message/content.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import type { GrantScope } from "../../core/action/grant-scope.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { Action } from "../declare/action.ts";
import { keyConflict, nobodyToAsk, stillAsking, waitingResult } from "../declare/action-errors.ts";
import type { ActionOutput } from "../declare/action-errors.ts";
import type { ActionHost, ActionRequest, ApprovalQuestion } from "./action-host.ts";
import { parseOutput } from "../ledger/stored-output.ts";
import { watchReads } from "./watch-reads.ts";

const PREVIEW_TIMEOUT_MS = 10_000;

/** A valid and allowed call, as the action's own functions get it. */
export interface AllowedCall {
  readonly call: never;
  readonly inputHash: string;
  readonly key: string;
  readonly permissions: readonly string[];
}

export async function needsConsent({ approval, kind }: Action, call: never): Promise<boolean> {
  if (approval === undefined) return kind === "durable-pause";
  return typeof approval === "function" ? approval(call) : approval;
}

/**
 * Result of `askConsent`.
 *
 * - `answer`: what the model reads now; the call does not run
 * - `granted`: somebody has agreed to it before; the call runs
 */
export type Consented =
  | { readonly kind: "answer"; readonly output: ActionOutput }
  | { readonly kind: "granted"; readonly approver: MessengerAuthor | undefined };

/** Asks people about a call, unless a grant covers it. */
export async function askConsent(
  host: ActionHost,
  request: ActionRequest,
  { call, inputHash, key, permissions }: AllowedCall,
): Promise<Consented> {
  const { action, name } = request;
  const earlier = await host.ledger(action.idempotencyScope ?? "conversation").look(key, name, inputHash);
  if (earlier?.kind === "settled") {
    const output = parseOutput(earlier.output);
    host.endUse(request, output, false);
    return { kind: "answer", output };
  }
  if (earlier?.kind === "conflict") return { kind: "answer", output: keyConflict() };
  if (earlier?.kind === "asking") return { kind: "answer", output: stillAsking() };
  const question = questionOf(host, request, { call, inputHash, key, permissions });
  const granted = await host.useGrant(question);
  if (granted !== undefined) return { kind: "granted", approver: granted.approver };
  const asked = await host.ask(question);
  if (asked === undefined) return { kind: "answer", output: keyConflict() };
  if ("problem" in asked) return { kind: "answer", output: nobodyToAsk(asked.problem) };
  return { kind: "answer", output: waitingResult(asked.approvalId, asked.note) };
}

/** Returns what people are asked about a call. */
export function questionOf(
  host: ActionHost,
  request: ActionRequest,
  { call, inputHash, key, permissions }: AllowedCall,
): ApprovalQuestion {
  const { approvalRisk } = request.action;
  const risk = typeof approvalRisk === "function" ? approvalRisk(call) : approvalRisk;
  return {
    request,
    input: request.input as Json,
    inputHash,
    ledgerKey: key,
    permissions,
    ...summaryOf(request, call),
    risk,
    preview: () => previewOf(host, request, call),
    offer: offerOf(request, call, risk),
    amount: amountOf(request, call),
    moreWords: request.action.moreWords?.(call),
  };
}

/** The summary, and the paths of the input that it was made of. A description goes on with words for the model. */
function summaryOf(
  { action: { approvalSummary, description }, name }: ActionRequest,
  call: never,
): Pick<ApprovalQuestion, "summary" | "summaryReads"> {
  if (typeof approvalSummary !== "function") {
    const [first = ""] = description.trim().split(/(?<=[.!?])\s/, 1);
    return { summary: approvalSummary ?? (first === "" ? name : first), summaryReads: [] };
  }
  const { input } = call as { readonly input: unknown };
  const { paths, result } = watchReads(input, (watched) =>
    approvalSummary({ ...(call as object), input: watched } as never),
  );
  return { summary: result, summaryReads: paths };
}

const WHOLE_ACTION = "*";
const LONGEST_SCOPE = 512;

/** Returns the calls that a grant given for this one would cover. High risk and destruction need the action's own word. */
function offerOf(
  { action: { amount, annotations, description, grantable, quorum = 1 }, name }: ActionRequest,
  call: never,
  risk: ApprovalRisk | undefined,
): GrantScope | undefined {
  // Several people decide about this call. Not all of them would see what one of them agrees to in advance.
  if (grantable === undefined || quorum > 1) return undefined;
  const offer =
    grantable === true ? { scope: WHOLE_ACTION, words: description.replace(/[\s.]+$/, "") } : grantable(call);
  if (offer === undefined || offer.scope === "" || offer.scope.length > LONGEST_SCOPE) return undefined;
  const { budget = "all", calls = 1, sum } = offer;
  const isSumGood = sum === undefined || (isAmount(sum) && amount !== undefined);
  if (!isSumGood || !Number.isInteger(calls) || calls < 1 || budget === "" || budget.length > LONGEST_SCOPE)
    throw new ConfigurationError(
      "action-grant-limit",
      `The grantable of the action "${name}" returns a limit that does not work. calls is a whole number from 1, sum is { value: 100, currency: "EUR" } and needs the action's amount, and budget has 1 to ${LONGEST_SCOPE} characters.`,
    );
  const isGrave = risk === "high" || annotations?.destructive === true;
  return isGrave && offer.evenHighRisk !== true ? undefined : offer;
}

/** Returns the money that a call moves. An invalid amount is an error: no sum could be claimed. */
function amountOf({ action: { amount }, name }: ActionRequest, call: never): Amount | undefined {
  const moved = amount?.(call);
  if (moved === undefined || isAmount(moved)) return moved;
  throw new ConfigurationError(
    "action-amount",
    `The amount of the action "${name}" must be { value: 12.5, currency: "EUR" }, with a value that is not negative.`,
  );
}

/** A preview that fails must not keep people from deciding, but they must know that they do not see it. */
async function previewOf(
  host: ActionHost,
  { action, name }: ActionRequest,
  call: never,
): Promise<ApprovalPreview | undefined> {
  const { preview } = action;
  if (preview === undefined) return undefined;
  try {
    const asked = Promise.resolve(preview(call));
    return await withinTime(host.clock, PREVIEW_TIMEOUT_MS, asked, `preview of ${name}`);
  } catch (error) {
    host.onFailure(name, error);
    return PREVIEW_FAILED;
  }
}
