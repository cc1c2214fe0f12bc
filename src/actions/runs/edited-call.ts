import { canonicalJson } from "../../core/json/canonical-json.ts";
import { checkValue } from "../../core/json/check-value.ts";
import { sha256 } from "../../core/bytes/sha256.ts";
import {
  actionFailureOf,
  invalidInput,
  keyConflict,
  notAuthorized,
  notEnabled,
} from "../declare/action-errors.ts";
import type { ActionFailure } from "../declare/action-errors.ts";
import type { ActionHost, ActionRequest, ApprovalQuestion } from "./action-host.ts";
import { questionOf } from "./ask-consent.ts";
import { isEnabled } from "./enabled-actions.ts";
import { ledgerKeyOf } from "./ledger-key.ts";
import { idleMembers } from "./live-run.ts";
import { UNASKING } from "./recorded-run.ts";

/** The question about a call whose input a person has changed, or the reason why nobody can be asked about it. */
export type EditedCall =
  | { readonly kind: "question"; readonly question: ApprovalQuestion }
  | { readonly kind: "refused"; readonly failure: ActionFailure };

/**
 * Checks a changed call as `runAction` checks a new one, and returns the question about it. Nothing runs, and nobody is
 * asked. A call that would need no consent by itself is a question all the same: people look at it already.
 */
export async function editedCall(host: ActionHost, request: ActionRequest): Promise<EditedCall> {
  const { action, name } = request;
  const refused = (failure: ActionFailure): EditedCall => ({ kind: "refused", failure });
  const checked = await checkValue(action.inputSchema, request.input);
  if (!checked.isValid) return refused(invalidInput(checked.problem, checked.issues));
  const { value: input } = checked;
  const idle = { ...host.context(request), ...idleMembers(host, request), ...UNASKING };
  const call = { input, ctx: { ...idle, attempt: 1 } } as never;
  const onFailure = (error: unknown): void => host.onFailure(name, error);
  if (!(await isEnabled(action, { states: host.ownStates, ctx: () => idle, onFailure })))
    return refused(notEnabled());
  try {
    const { permissions: needed = [] } = action;
    const permissions = typeof needed === "function" ? await needed(call) : needed;
    const decision = await host.authorize({ request, input, requiredPermissions: permissions });
    if (!decision.allowed) return refused(notAuthorized(decision.missing, decision.reason, decision.holders));
    const key = await ledgerKeyOf(request, call);
    const inputHash = await sha256(canonicalJson(input));
    const known = await host.ledger(action.idempotencyScope ?? "conversation").look(key, name, inputHash);
    if (known !== undefined) return refused(keyConflict());
    return { kind: "question", question: questionOf(host, request, { call, inputHash, key, permissions }) };
  } catch (error) {
    onFailure(error);
    return refused(actionFailureOf(error));
  }
}
