import fc from "fast-check";
import { expect, it } from "vitest";
import { countedLog, Figures } from "../../../src/core/chat/figures.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { renderMetrics } from "../../../src/messengers/root/health/render-metrics.ts";

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

/** Reads Prometheus' text format strictly, as its documentation describes it. */
function parse(text: string): ReadonlyMap<string, Metric> {
  const metrics = new Map<string, Metric>();
  const seen = new Set<string>();
  let help: readonly [name: string, words: string] | undefined;
  let current: readonly [name: string, metric: Metric] | undefined;
  if (text !== "" && !text.endsWith("\n")) throw new Error("The last line has no end.");
  for (const line of text.split("\n").slice(0, -1)) {
    const [, comment, about = "", words = ""] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (comment === "HELP") help = [about, words];
    else if (comment === "TYPE") {
      if (help?.[0] !== about) throw new Error(`${about} has no help before its type.`);
      if (metrics.has(about)) throw new Error(`${about} is there twice.`);
      current = [about, { type: words, help: help[1], samples: [] }];
      metrics.set(...current);
    } else {
      const sample = sampleOf(line);
      const labels = Object.entries(sample.labels).map(([label, text]) => `${label}=${text}`);
      const key = JSON.stringify([sample.name, labels.toSorted()]);
      if (seen.has(key)) throw new Error(`${line} is there twice.`);
      seen.add(key);
      const [name = "", metric] = current ?? [];
      const isOwn =
        metric?.type === "histogram"
          ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample.name)
          : sample.name === name;
      if (!isOwn) throw new Error(`${line} stands below ${name}.`);
      metric?.samples.push(sample);
    }
  }
  return metrics;
}

function sampleOf(line: string): Sample {
  const [, name = "", list = "", value = ""] =
    /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)+)\})? (\d+(?:\.\d+)?(?:e[-+]\d+)?)$/.exec(line) ??
    [];
  if (name === "") throw new Error(`${line} is no sample.`);
  const labels = [...list.matchAll(/([a-z_]+)="((?:[^"\\\n]|\\[\\n"])*)"/g)].map(
    ([, label = "", escaped = ""]) =>
      [label, escaped.replaceAll(/\\([\\n"])/g, (_, char: string) => (char === "n" ? "\n" : char))] as const,
  );
  return { name, labels: Object.fromEntries(labels), value: Number(value) };
}

/** The buckets of one series of a histogram grow, and the last one is its count. */
function checkHistogram(name: string, { samples }: Metric): void {
  for (const { labels, value } of samples.filter((sample) => sample.name === `${name}_count`)) {
    const buckets = samples.filter(
      (sample) =>
        sample.name === `${name}_bucket` &&
        Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    );
    const bounds = buckets.map((bucket) => Number(bucket.labels["le"]?.replace("+Inf", "Infinity")));
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
    const counts = buckets.map((bucket) => bucket.value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(bounds.at(-1)).toBe(Infinity);
    expect(counts.at(-1)).toBe(value);
  }
}

const words = fc.oneof(
  fc.constantFrom("done", "queued", "ignored: no mention", 'a "b"', "\\", "\n", "{}", ","),
  fc.string(),
);
const size = fc.nat(1_000_000);
const line = fc.oneof(
  fc.record({ event: fc.constant("inbox.event"), outcome: words }),
  fc.record({
    event: fc.constant("turn.ended"),
    outcome: words,
    durationMs: size,
    steps: size,
    toolCalls: size,
    inputTokens: size,
    outputTokens: size,
  }),
  fc.record({ event: fc.constant("model.call-failed"), code: words }),
  fc.record({ event: fc.constant("delivery.call-failed"), kind: words, code: words }),
);

it("writes any figures so that Prometheus reads them, with the type that their name promises", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.array(size, { maxLength: 5 }), (lines, durations) => {
      const figures = new Figures();
      const log = countedLog(
        createLog(() => undefined),
        () => figures,
        () => 0,
      );
      for (const { event, ...fields } of lines) log.warn(event, fields);
      for (const ms of durations)
        figures.observe("switchboard_webhook_seconds", { status: ms % 2 === 0 ? "200" : "503" }, ms);
      const all = {
        ...figures.all(),
        switchboard_ready: 1,
        switchboard_chats: 7,
        switchboard_conversations: 9,
      };
      const metrics = parse(renderMetrics(all));
      for (const [name, metric] of metrics) {
        const endsInTotal = name.endsWith("_total");
        expect(metric.type === "counter").toBe(endsInTotal);
        if (metric.type === "histogram") checkHistogram(name, metric);
      }
      const written = [...metrics.values()].flatMap(({ samples }) => samples);
      expect(written).toHaveLength(Object.keys(all).length);
      const turns = metrics.get("switchboard_turns_total")?.samples ?? [];
      expect(turns.reduce((sum, { value }) => sum + value, 0)).toBe(
        lines.filter(({ event }) => event === "turn.ended").length,
      );
      const outcomes = new Set(lines.flatMap((it) => (it.event === "turn.ended" ? [it.outcome] : [])));
      expect(new Set(turns.map(({ labels }) => labels["outcome"]))).toEqual(outcomes);
    }),
    { numRuns: 100 },
  );
});
