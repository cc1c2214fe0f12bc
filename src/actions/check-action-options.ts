import type { FlexibleSchema } from "ai";
import { checkNames } from "../core/check-names.ts";
import type { OptionNames } from "../core/check-names.ts";
import { isSchema } from "../core/is-schema.ts";
import { unsetItem } from "../core/unset-item.ts";
import { ConfigurationError } from "../core/errors.ts";
import type { ActionOptions } from "./action.ts";

const CODE = "action-option-invalid";

const NAMES: OptionNames<ActionOptions<FlexibleSchema, unknown>> = {
  description: true,
  inputSchema: true,
  execute: true,
  name: true,
  idempotencyKey: true,
  idempotencyScope: true,
  verify: true,
  permissions: true,
  timeoutMs: true,
  approval: true,
  approvalSummary: true,
  preview: true,
  grantable: true,
  annotations: true,
  approvalRisk: true,
  kind: true,
  approvers: true,
  requesterMayApprove: true,
  askIn: true,
  remindAfterMs: true,
  expiresAfterMs: true,
  sensitive: true,
  labels: true,
};

interface Rule {
  readonly mustBe: string;
  readonly isValid: (value: unknown) => boolean;
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isText = (value: unknown): boolean =>
  typeof value === "string" ||
  (isObject(value) && Object.values(value).some(Boolean) && isList(Object.values(value), "string"));
const isList = (value: unknown, ...types: readonly string[]): boolean =>
  Array.isArray(value) && value.every((one) => types.includes(typeof one));

/** The options that decide whether an action runs, and who is asked. A wrong value of one must not be ignored. */
const RULES: Partial<Record<keyof typeof NAMES, Rule>> = {
  inputSchema: { mustBe: "a schema, such as z.object({ ... })", isValid: isSchema },
  approval: {
    mustBe: "true, false, or a function of the call",
    isValid: (value) => typeof value === "boolean" || isFunction(value),
  },
  approvers: {
    mustBe: 'a list of user ids, { role }, "requester", "anyone", or a function of the person',
    isValid: (value) =>
      value === "requester" ||
      value === "anyone" ||
      isFunction(value) ||
      isList(value, "string", "number") ||
      (isObject(value) && "role" in value && typeof value.role === "string"),
  },
  approvalRisk: {
    mustBe: '"low", "medium", "high", or a function of the input',
    isValid: (value) => value === "low" || value === "medium" || value === "high" || isFunction(value),
  },
  requesterMayApprove: { mustBe: "true or false", isValid: (value) => typeof value === "boolean" },
  kind: {
    mustBe: '"server", "approval-gated" or "durable-pause"',
    isValid: (value) => value === "server" || value === "approval-gated" || value === "durable-pause",
  },
  permissions: {
    mustBe: "a list of permissions, or a function of the call",
    isValid: (value) => isList(value, "string") || isFunction(value),
  },
  sensitive: { mustBe: "a list of paths of the input", isValid: (value) => isList(value, "string") },
  labels: {
    mustBe: 'texts by path: { amountCents: "Amount" }, or for each language { amountCents: { en, de } }',
    isValid: (value) => isObject(value) && Object.values(value).every(isText),
  },
  idempotencyScope: {
    mustBe: '"conversation" or "bot"',
    isValid: (value) => value === "conversation" || value === "bot",
  },
  grantable: {
    mustBe: "true, or a function of the input. Leave it out for an action without grants",
    isValid: (value) => value === true || isFunction(value),
  },
  askIn: {
    mustBe: '"here", "approver-dm", or a chat such as { messenger, chatId }',
    isValid: (value) => value === "here" || value === "approver-dm" || isObject(value),
  },
  annotations: {
    mustBe: "{ destructive: true } or { destructive: false }",
    isValid: (value) =>
      isObject(value) &&
      Object.entries(value).every(
        ([name, flag]) => name === "destructive" && (flag === undefined || typeof flag === "boolean"),
      ),
  },
};

/**
 * Refuses options of an action that would otherwise be ignored without a word: a misspelt `approval` would let it run
 * without asking anybody. The compiler finds the same, but `switchboard dev` does not run it.
 *
 * @param called names the action
 * @throws {ConfigurationError} `action-option-invalid`
 */
export function checkActionOptions(options: object, called: string): void {
  checkNames(options, NAMES, { owner: called, code: CODE });
  for (const [name, rule] of Object.entries(RULES)) {
    const value: unknown = Reflect.get(options, name);
    const unset = unsetItem(`${name} of ${called}`, value);
    if (unset !== undefined) throw new ConfigurationError(CODE, unset);
    if (value === undefined || rule.isValid(value)) continue;
    throw new ConfigurationError(CODE, `${name} of ${called} must be ${rule.mustBe}.`);
  }
}
