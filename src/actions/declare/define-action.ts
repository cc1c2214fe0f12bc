import type { FlexibleSchema } from "ai";
import { ConfigurationError } from "../../core/base/errors.ts";
import { checkDescribed } from "../../core/json/json-schema-of.ts";
import type { ActionAnnotations } from "./action-annotations.ts";
import type { Action, ActionOptions } from "./action.ts";
import { checkActionOptions } from "./check-action-options.ts";

/** A card can be changed for 90 days. The last one is for showing what came of the decision. */
const LONGEST_WAIT_MS = 89 * 24 * 60 * 60 * 1000;

/**
 * Returns an action with its defaults filled in.
 *
 * @throws {ConfigurationError} `action-option-invalid` for an option that does not exist, or that cannot have its value,
 *   `action-never-waits` for `kind: "durable-pause"` with `approval: false`, `action-time` for a time limit that is not a
 *   positive number, `action-expiry` if people would have longer to decide than their card can be changed,
 *   `action-without-approver` if nobody could agree, `action-quorum` if too few people could, `action-escalation` if nobody
 *   is named to escalate to, `action-ask-in` if it names nobody whose private chat could be found,
 *   `action-annotations` if its annotations contradict each other or `approval`, `schema-undescribed` if the library of its
 *   `inputSchema` has no JSON Schema, which the model reads
 */
export function defineAction<
  Schema extends FlexibleSchema,
  Output,
  Context,
  Memory extends FlexibleSchema = FlexibleSchema,
>(options: ActionOptions<Schema, Output, Context, Memory>): Action {
  const called = calledOf(options);
  checkActionOptions(options, called);
  checkDescribed(options.inputSchema, called);
  const { approval, timeoutMs, escalateAfterMs, expiresAfterMs, remindAfterMs } = options;
  if (options.kind === "durable-pause" && approval === false) {
    throw new ConfigurationError(
      "action-never-waits",
      `With kind "durable-pause", ${called} waits for a person, but its approval is false. Leave out one of them.`,
    );
  }
  for (const [name, value] of Object.entries({ timeoutMs, expiresAfterMs, escalateAfterMs, remindAfterMs })) {
    if (value !== undefined && !(value > 0)) {
      throw new ConfigurationError(
        "action-time",
        `The ${name} of ${called} must be a positive number of milliseconds, not ${String(value)}.`,
      );
    }
  }
  if (expiresAfterMs !== undefined && expiresAfterMs > LONGEST_WAIT_MS) {
    throw new ConfigurationError(
      "action-expiry",
      `The expiresAfterMs of ${called} must be at most ${LONGEST_WAIT_MS} (89 days), not ${expiresAfterMs}: its card can be changed for 90 days only.`,
    );
  }
  const { approvers, askIn, requesterMayApprove } = options;
  if (askIn === "approver-dm" && (approvers === "anyone" || typeof approvers === "function")) {
    throw new ConfigurationError(
      "action-ask-in",
      `With askIn "approver-dm", ${called} must name its approvers: user ids, "requester", or permissions. A function or "anyone" names nobody.`,
    );
  }
  if (requesterMayApprove === false && (approvers === undefined || approvers === "requester")) {
    throw new ConfigurationError(
      "action-without-approver",
      `The person who asks may not agree (requesterMayApprove), and ${called} names nobody else. Give it approvers.`,
    );
  }
  const { escalateTo, quorum = 1 } = options;
  if (escalateAfterMs !== undefined && escalateTo === undefined) {
    throw new ConfigurationError(
      "action-escalation",
      `The escalateAfterMs of ${called} asks more people, and escalateTo does not say whom.`,
    );
  }
  const most =
    approvers === "requester" ? 1 : Array.isArray(approvers) ? new Set(approvers.map(String)).size : quorum;
  // An empty list names nobody for now: such a call is refused when it is made.
  if (quorum > 1 && quorum > most) {
    throw new ConfigurationError(
      "action-quorum",
      `${quorum} people must agree to ${called} (quorum), but its approvers are ${most} at most. Name more of them.`,
    );
  }
  checkAnnotations(options, called);
  const asks = approval ?? asksByDefault(options);
  const kind = options.kind ?? (asks === false ? "server" : "approval-gated");
  return { ...options, ...(asks !== false && { approval: asks }), kind };
}

/** Actions of `durable-pause` ask without an `approval`. */
function asksByDefault({
  annotations: { destructive, requiresConfirmation } = {},
}: Pick<Action, "annotations">): boolean {
  return destructive === true || requiresConfirmation === true;
}

function checkAnnotations(
  { annotations: { destructive, readOnly, requiresConfirmation } = {}, approval }: Checked,
  called: string,
): void {
  if (readOnly === true && destructive === true)
    throw new ConfigurationError(
      "action-annotations",
      `The annotations of ${called} say that it only reads, and that its effect cannot be undone. Leave out one of them.`,
    );
  if (requiresConfirmation === true && approval === false)
    throw new ConfigurationError(
      "action-annotations",
      `With requiresConfirmation, ${called} asks people, but its approval is false. Leave out one of them.`,
    );
}

interface Checked {
  readonly annotations?: ActionAnnotations;
  readonly approval?: unknown;
}

/** Names an action in an error. Its key in `getActions()` is not known yet. */
function calledOf({
  description,
  name,
}: {
  readonly description?: unknown;
  readonly name?: unknown;
}): string {
  return `the action "${shortened(String(name ?? description))}"`;
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59).trimEnd()}…` : text;
}
