import type { ObservabilityEvent } from "agents/observability";
import { expect, it } from "vitest";
import { agentEventsOf } from "../../../src/log/agent-events.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { observedLog } from "../../../src/log/observed-log.ts";

type Payload<Type extends ObservabilityEvent["type"]> = Extract<
  ObservabilityEvent,
  { type: Type }
>["payload"];

/** Returns an event as the `agents` package declares it. The compiler checks the test's payloads. */
function event<Type extends ObservabilityEvent["type"]>(type: Type, payload: Payload<Type>): unknown {
  return { type, payload };
}

const QUESTION = { turn: "t1", key: "m:1:2", chat: "5", thread: "telegram:5" };
const turn = { requestId: "t1", trigger: "message", admission: "queued" };

it.each([
  ["a message that a turn will answer", "inbox.event", { outcome: "queued" }, [event("message:request", {})]],
  ["a message that nobody answers", "inbox.event", { outcome: "ignored: no mention" }, []],
  ["the begin of a turn", "turn.begun", QUESTION, [event("chat:turn:start", turn)]],
  [
    "the begin of a turn of the bot's own code",
    "turn.begun",
    { turn: "t1", kind: "prompt" },
    [event("chat:turn:start", { ...turn, trigger: "prompt" })],
  ],
  [
    "an answer",
    "turn.ended",
    { ...QUESTION, outcome: "done", durationMs: 1500 },
    [event("chat:turn:finish", { ...turn, status: "done", durationMs: 1500 }), event("message:response", {})],
  ],
  [
    "an answer that was stopped after a restart",
    "turn.ended",
    { ...QUESTION, outcome: "stopped", durationMs: 10, restarted: true },
    [
      event("chat:turn:finish", { ...turn, status: "stopped", durationMs: 10, continuation: true }),
      event("message:cancel", { requestId: "t1" }),
    ],
  ],
  [
    "a turn that failed",
    "turn.ended",
    { ...QUESTION, outcome: "failed", durationMs: 10 },
    [
      event("chat:turn:finish", { ...turn, status: "failed", durationMs: 10 }),
      event("message:error", { error: "turn-failed" }),
    ],
  ],
  [
    "a call of the model that failed",
    "model.call-failed",
    { code: "model-overloaded", status: 503, message: "The server is busy." },
    [event("chat:request:failed", { stage: "stream", error: "model-overloaded" })],
  ],
  [
    "a question for consent",
    "approval.changed",
    { approval: "a1", action: "refund", call: "c1", state: "waiting" },
    [event("action:pause:created", { action: "refund", executionId: "a1", toolCallId: "c1" })],
  ],
  [
    "a consent",
    "approval.changed",
    { approval: "a1", action: "refund", call: "c1", state: "approved" },
    [
      event("action:pause:approved", { action: "refund", executionId: "a1" }),
      event("tool:approval", { toolCallId: "c1", approved: true }),
    ],
  ],
  [
    "a refusal",
    "approval.changed",
    { approval: "a1", action: "refund", call: "c1", state: "rejected" },
    [
      event("action:pause:rejected", { action: "refund", executionId: "a1" }),
      event("tool:approval", { toolCallId: "c1", approved: false }),
    ],
  ],
  ["a step of an approved action", "approval.changed", { approval: "a1", state: "running" }, []],
  [
    "a scheduled task that ran",
    "schedule.ended",
    { task: "digest", occurrence: "digest:1", state: "done" },
    [event("schedule:execute", { callback: "digest", id: "digest:1" })],
  ],
  [
    "a scheduled task that failed",
    "schedule.failed",
    { task: "digest", occurrence: "digest:1", code: "model-failed" },
    [event("schedule:error", { callback: "digest", id: "digest:1", error: "model-failed", attempts: 1 })],
  ],
  [
    "a scheduled task that is too late",
    "schedule.skipped",
    { task: "digest", lateMs: 5 },
    [event("schedule:cancel", { callback: "digest", id: "digest" })],
  ],
])("publishes %s", (_name, line, fields, expected) => {
  expect(agentEventsOf(line, fields)).toEqual(expected);
});

it("observes lines that LOG_LEVEL leaves out, with all their fields", () => {
  const seen: unknown[] = [];
  const lines: string[] = [];
  const quiet = createLog((_level, line) => lines.push(line), { threshold: "silent" });
  const log = observedLog(quiet, (...line) => seen.push(line)).with({ conversation: "c" });
  log.with({ turn: "t1" }).info("turn.begun", { messages: 1 });
  expect(seen).toEqual([["turn.begun", { conversation: "c", turn: "t1", messages: 1 }]]);
  expect(lines).toEqual([]);
});
