import type { LogFields } from "../core/base/log.ts";

/** An event of `agents/observability`, before its object adds name and time. */
export interface AgentEvent {
  readonly type: string;
  readonly payload: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Ends of a turn with an answer, or with the part of it that is there before somebody decides. */
const ANSWERED: ReadonlySet<unknown> = new Set(["done", "out-of-steps", "parked"]);

/**
 * Returns the events of `agents/observability` that a line of the log means. Like the line they hold ids and codes, and
 * nothing that somebody wrote (I10).
 */
export function agentEventsOf(event: string, fields: LogFields): readonly AgentEvent[] {
  const text = (name: string): string => String(fields[name] ?? "");
  switch (event) {
    case "inbox.event":
      return fields.outcome === "queued" ? [{ type: "message:request", payload: {} }] : [];
    case "turn.begun":
      return [{ type: "chat:turn:start", payload: turnOf(fields) }];
    case "turn.ended":
      return [{ type: "chat:turn:finish", payload: finishOf(fields) }, ...messageEnd(fields)];
    case "model.call-failed":
      return [
        {
          type: "chat:request:failed",
          payload: { requestId: optional(fields.turn), stage: "stream", error: text("code") },
        },
      ];
    case "approval.changed":
      return approvalEvents(text("state"), {
        action: text("action"),
        executionId: text("approval"),
        toolCallId: text("call"),
      });
    case "schedule.ended":
      return [{ type: "schedule:execute", payload: scheduleOf(fields) }];
    case "schedule.failed":
      return [
        {
          type: "schedule:error",
          payload: { ...scheduleOf(fields), error: text("code"), attempts: Number(fields.attempts ?? 1) },
        },
      ];
    case "schedule.skipped":
      return [{ type: "schedule:cancel", payload: scheduleOf(fields) }];
    default:
      return [];
  }
}

function turnOf(fields: LogFields): AgentEvent["payload"] {
  return {
    requestId: String(fields.turn ?? ""),
    // A turn that answers people names the newest of their messages.
    trigger: fields.key === undefined ? "prompt" : "message",
    admission: "queued",
  };
}

function finishOf(fields: LogFields): AgentEvent["payload"] {
  return {
    ...turnOf(fields),
    status: String(fields.outcome ?? ""),
    durationMs: Number(fields.durationMs ?? 0),
    ...(fields.restarted === true && { continuation: true }),
  };
}

function messageEnd({ outcome, turn }: LogFields): readonly AgentEvent[] {
  if (ANSWERED.has(outcome)) return [{ type: "message:response", payload: {} }];
  if (outcome === "stopped") return [{ type: "message:cancel", payload: { requestId: String(turn ?? "") } }];
  return outcome === "failed" ? [{ type: "message:error", payload: { error: "turn-failed" } }] : [];
}

function approvalEvents(
  state: string,
  {
    action,
    executionId,
    toolCallId,
  }: { readonly action: string; readonly executionId: string; readonly toolCallId: string },
): readonly AgentEvent[] {
  if (state === "waiting")
    return [{ type: "action:pause:created", payload: { action, executionId, toolCallId } }];
  if (state !== "approved" && state !== "rejected") return [];
  return [
    { type: `action:pause:${state}`, payload: { action, executionId } },
    { type: "tool:approval", payload: { toolCallId, approved: state === "approved" } },
  ];
}

function scheduleOf(fields: LogFields): AgentEvent["payload"] {
  return { callback: String(fields.task ?? ""), id: String(fields.occurrence ?? fields.task ?? "") };
}

function optional(value: LogFields[string]): string | undefined {
  return value === undefined ? undefined : String(value);
}
