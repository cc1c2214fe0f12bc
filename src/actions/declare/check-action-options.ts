import type { FlexibleSchema } from "ai";
import {
  checkOptions,
  FLAG,
  FUNCTION,
  isFunction,
  isObject,
  isText,
  listOf,
  oneOf,
  orFunction,
  TEXT,
  whole,
} from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";
import { isSchema } from "../../core/json/is-schema.ts";
import type { ActionOptions } from "./action.ts";

/** Most times that a run is made again, whatever the action says. */
export const MOST_RETRIES = 10;

const isRetryNumber = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_RETRIES;

const isLocalText = (value: unknown): boolean =>
  isText(value) ||
  (isObject(value) && Object.values(value).some(Boolean) && Object.values(value).every(isText));

const isListOfIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((id) => isText(id) || typeof id === "number");

/** Decides whether an action runs, and who is asked. A wrong value of an option must not be ignored. */
const OPTIONS: OptionRules<ActionOptions<FlexibleSchema, unknown>> = {
  description: true,
  inputSchema: ["a schema, such as z.object({ ... })", isSchema],
  execute: true,
  name: true,
  instructions: TEXT,
  enabled: FUNCTION,
  contexts: listOf("a list of names of contexts", isText),
  memory: {
    schema: ["a schema, such as z.object({ ... })", isSchema],
    version: whole(1),
    migrate: FUNCTION,
    scope: oneOf("conversation", "person", "bot"),
  },
  returns: ["a schema, such as z.object({ ... })", isSchema],
  strictOutput: FLAG,
  format: FUNCTION,
  retry: [
    `true, false, a whole number from 0 to ${MOST_RETRIES}, or a function of the failed run`,
    (value) => typeof value === "boolean" || isFunction(value) || isRetryNumber(value),
  ],
  onError: FUNCTION,
  idempotencyKey: true,
  idempotencyScope: oneOf("conversation", "bot"),
  verify: true,
  revert: FUNCTION,
  permissions: orFunction(listOf("a list of permissions", isText), "a function of the call"),
  timeoutMs: true,
  approval: orFunction(FLAG, "a function of the call"),
  approvalSummary: true,
  preview: true,
  grantable: [
    "true, or a function of the input. Leave it out for an action without grants",
    (value) => value === true || isFunction(value),
  ],
  amount: ["a function of the input", isFunction],
  annotations: { readOnly: FLAG, destructive: FLAG, requiresConfirmation: FLAG },
  approvalRisk: orFunction(oneOf("low", "medium", "high"), "a function of the input"),
  kind: oneOf("server", "approval-gated", "durable-pause"),
  escalateTo: [
    "a list of user ids, or { role }",
    (value) => isListOfIds(value) || (isObject(value) && "role" in value && isText(value.role)),
  ],
  escalateAfterMs: true,
  approvers: [
    'a list of user ids, { role }, "requester", "anyone", or a function of the person',
    (value) =>
      value === "requester" ||
      value === "anyone" ||
      isFunction(value) ||
      isListOfIds(value) ||
      (isObject(value) && "role" in value && isText(value.role)),
  ],
  requesterMayApprove: FLAG,
  quorum: [
    "a whole number of people from 1 to 20",
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 20,
  ],
  askIn: [
    '"here", "approver-dm", or a chat such as { messenger, chatId }',
    (value) => value === "here" || value === "approver-dm" || isObject(value),
  ],
  remindAfterMs: true,
  expiresAfterMs: true,
  sensitive: listOf("a list of paths of the input", isText),
  labels: [
    'texts by path: { amountCents: "Amount" }, or for each language { amountCents: { en, de } }',
    (value) => isObject(value) && Object.values(value).every(isLocalText),
  ],
};

/**
 * Refuses options of an action that would otherwise be ignored without a word: a misspelt `approval` would let it run
 * without asking anybody. The compiler finds the same, but `switchboard dev` does not run it.
 *
 * @param called names the action
 * @throws {ConfigurationError} `action-option-invalid`
 */
export function checkActionOptions(options: object, called: string): void {
  checkOptions(options, OPTIONS, { owner: called, code: "action-option-invalid" });
}
