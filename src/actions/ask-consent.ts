import type { ApprovalPreview } from "../core/approval-preview.ts";
import type { Json } from "../core/content.ts";
import { withinTime } from "../core/within-time.ts";
import type { Action } from "./action.ts";
import { keyConflict, waitingResult } from "./action-errors.ts";
import type { ActionFailure, WaitingResult } from "./action-errors.ts";
import type { ActionHost, ActionRequest } from "./action-host.ts";

const PREVIEW_TIMEOUT_MS = 10_000;
const NO_PREVIEW = "I couldn't find out what this changes.";

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

/** Asks people about a call. Returns the result that the model reads until they have decided. */
export async function askConsent(
  host: ActionHost,
  request: ActionRequest,
  { call, inputHash, key, permissions }: AllowedCall,
): Promise<Json | ActionFailure | WaitingResult> {
  const { action, name } = request;
  const { approvalRisk, approvalSummary = action.description } = action;
  const earlier = await host.ledger(action.idempotencyScope ?? "conversation").look(key, name, inputHash);
  if (earlier?.kind === "settled") return JSON.parse(earlier.output) as Json;
  if (earlier?.kind === "conflict") return keyConflict();
  const approvalId = await host.ask({
    request,
    input: request.input as Json,
    inputHash,
    ledgerKey: key,
    permissions,
    summary: typeof approvalSummary === "function" ? approvalSummary(call) : approvalSummary,
    risk: typeof approvalRisk === "function" ? approvalRisk(call) : approvalRisk,
    preview: await previewOf(host, request, call),
  });
  return approvalId === undefined ? keyConflict() : waitingResult(approvalId);
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
    return NO_PREVIEW;
  }
}
