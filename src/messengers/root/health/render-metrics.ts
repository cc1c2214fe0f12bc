import type { FigureDeltas } from "../../../core/chat/figures.ts";

/** Every metric: its type and its meaning. */
const METRICS: Readonly<Record<string, readonly [type: "counter" | "gauge" | "histogram", help: string]>> = {
  switchboard_webhook_seconds: ["histogram", "Time to answer a webhook, by status."],
  switchboard_events_total: ["counter", "Incoming events that were handled, by outcome."],
  switchboard_turns_total: ["counter", "Turns that have ended, by outcome."],
  switchboard_turn_seconds: ["histogram", "Duration of turns that began in this process."],
  switchboard_model_calls_total: ["counter", "Completed model calls of ended turns."],
  switchboard_model_failures_total: ["counter", "Failed model calls, by code."],
  switchboard_tool_calls_total: ["counter", "Tool calls of ended turns."],
  switchboard_tokens_total: ["counter", "Tokens that the model's server counted, by kind."],
  switchboard_platform_calls_total: [
    "counter",
    "Calls to a platform that a chat's gate allowed, by purpose.",
  ],
  switchboard_platform_failures_total: ["counter", "Failed calls to a platform, by kind and code."],
  switchboard_penalties_total: ["counter", "Times that a platform asked a chat to wait."],
  switchboard_problems_total: ["counter", "Warnings and errors in the log, by event."],
  switchboard_conversations: ["gauge", "Conversations in the directory."],
  switchboard_chats: ["gauge", "Chats in which the bot was seen."],
  switchboard_ready: ["gauge", "1 if the bot can answer, 0 if /health has a problem."],
};

/** Writes figures in Prometheus' text format: metrics in a fixed order, the series of a metric together. */
export function renderMetrics(figures: FigureDeltas): string {
  const byMetric = new Map<string, (readonly [series: string, value: number])[]>();
  for (const [series, value] of Object.entries(figures)) {
    const metric = metricOf(series);
    byMetric.set(metric, [...(byMetric.get(metric) ?? []), [series, value]]);
  }
  return Object.entries(METRICS)
    .flatMap(([metric, [type, help]]) => {
      const series = byMetric.get(metric) ?? [];
      if (series.length === 0) return [];
      const lines = series.map(([name, value]) => `${name} ${value}`);
      return [`# HELP ${metric} ${help}`, `# TYPE ${metric} ${type}`, ...lines];
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns the metric of a series. Buckets, sum and count of a histogram belong to one metric. */
function metricOf(series: string): string {
  const [name = ""] = series.split("{", 1);
  if (Object.hasOwn(METRICS, name)) return name;
  return name.replace(/_(?:bucket|sum|count)$/, "");
}
