import type { ApiCall } from "../../playground/telegram/control/api-log.ts";

/** Length of the part of a text that is enough to recognize it. */
const SHOWN_LENGTH = 36;

/** Describes every call and every kill in one line, with seconds since the start, to explain a problem. */
export function describeCalls(
  calls: readonly ApiCall[],
  killedAt: readonly number[],
  startedAt: number,
): readonly string[] {
  const seconds = (at: number): string => ((at - startedAt) / 1_000).toFixed(3).padStart(9);
  const lines = [
    ...killedAt.map((at) => ({ at, line: `${seconds(at)} KILL` })),
    ...calls.map((call) => ({ at: call.at, line: `${seconds(call.at)} ${describeCall(call)}` })),
  ];
  return lines.toSorted((left, right) => left.at - right.at).map(({ line }) => line);
}

function describeCall(call: ApiCall): string {
  const { message_thread_id: topic, message_id: target, text } = call.payload;
  const place = `${call.chatId ?? ""}${typeof topic === "number" ? `/${topic}` : ""}`;
  const said = typeof text === "string" ? ` ${JSON.stringify(excerpt(text))}` : "";
  const id = call.messageId ?? target;
  const message = typeof id === "number" ? ` #${id}` : "";
  const end = [
    call.outcome,
    call.processed ? "done" : "not done",
    ...(call.fault === undefined ? [] : [call.fault]),
    ...(call.durationMs === undefined ? [] : [`${Math.round(call.durationMs)} ms`]),
    ...(call.description === undefined ? [] : [call.description]),
  ].join(", ");
  return `${place} ${call.method}${message}${said}: ${end}`;
}

function excerpt(text: string): string {
  if (text.length <= 2 * SHOWN_LENGTH) return text;
  return `${text.slice(0, SHOWN_LENGTH)} ... ${text.slice(-SHOWN_LENGTH)}`;
}
