import { describe, expect, it } from "vitest";
import { SpanExport } from "../../../src/telemetry/span-export.ts";
import { collectorOf } from "../../../src/telemetry/collector.ts";
import { spanIdOf, traceOf } from "../../../src/telemetry/span.ts";
import type { Span } from "../../../src/telemetry/span.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { readSpans } from "../../support/otlp.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

function spans(count: number): Span[] {
  return Array.from({ length: count }, (_, index) => ({
    ...traceOf("t"),
    spanId: spanIdOf("t", String(index)),
    parentSpanId: undefined,
    name: `span ${index}`,
    kind: "internal",
    beganAt: 1_700_000_000_000,
    endedAt: 1_700_000_000_001.5,
    attributes: { text: "a", count: 3, cost: 0.25, isOn: true, gone: undefined },
    isFailed: index === 1,
  }));
}

/** @param answers one for each request; the last one is repeated */
function createRig(...answers: readonly (number | "never" | "refused")[]) {
  const clock = createVirtualClock(1_700_000_000_000);
  const bodies: string[] = [];
  const { lines, log } = recordLog();
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    const answer = answers[Math.min(bodies.length, answers.length - 1)] ?? 200;
    bodies.push(init?.body as string);
    if (answer === "never") return new Promise(() => {});
    if (answer === "refused") return Promise.reject(new Error("connection refused by collector.example"));
    return Promise.resolve(new Response("{}", { status: answer }));
  };
  const exported = new SpanExport({
    deps: { clock, fetch },
    log,
    collector: { url: "https://collector.example/v1/traces", headers: {} },
    resource: { "service.name": "shop" },
  });
  return { bodies, clock, exported, lines };
}

describe("the export of spans", () => {
  it("gathers those of a second into one request", async () => {
    const { bodies, clock, exported } = createRig(200);
    exported.add(spans(2));
    await clock.advance(500);
    exported.add(spans(3));
    expect(bodies).toHaveLength(0);
    await clock.advance(600);
    expect(bodies).toHaveLength(1);
    const read = readSpans(bodies[0] ?? "");
    expect(read).toHaveLength(5);
    expect(read[0]?.attributes).toEqual({ text: "a", count: "3", cost: 0.25, isOn: true });
    expect(read.map(({ isFailed }) => isFailed)).toEqual([false, true, false, true, false]);
    await clock.advance(60_000);
    expect(bodies).toHaveLength(1);
  });

  it.each(["refused", "never", 503, 429] as const)("tries three times where it is %s", async (answer) => {
    const { bodies, clock, exported, lines } = createRig(answer, answer, 200);
    exported.add(spans(1));
    await clock.advance(60_000);
    expect(bodies).toHaveLength(3);
    expect(lines).toEqual([]);
  });

  it.each([400, 401, 302])("drops what the collector refuses with %s, and says so", async (status) => {
    const { bodies, clock, exported, lines } = createRig(status);
    exported.add(spans(2));
    await clock.advance(60_000);
    expect(bodies).toHaveLength(1);
    expect(lines).toEqual([
      { event: "telemetry.not-exported", fields: { code: `http-${status}`, spans: 2 } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("collector.example");
  });

  it("keeps at most 512 spans for a collector that is away, and goes on when it is back", async () => {
    const { bodies, clock, exported, lines } = createRig("refused", "refused", "refused", 200);
    for (let round = 0; round < 100; round += 1) exported.add(spans(20));
    await clock.advance(120_000);
    const sent = bodies.slice(3).flatMap((body) => readSpans(body));
    // The first request of 128 was given up.
    expect(sent).toHaveLength(512 - 128);
    expect(lines).toMatchObject([{ event: "telemetry.not-exported", fields: { spans: 2_000 - 512 + 128 } }]);
    exported.add(spans(1));
    await clock.advance(2_000);
    expect(readSpans(bodies.at(-1) ?? "")).toHaveLength(1);
  });
});

describe("the collector of the environment", () => {
  it("is named by the variables that OpenTelemetry names", () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:4318/";
    const OTEL_EXPORTER_OTLP_HEADERS = "authorization=Bearer%20abc, x-team=bots";
    expect(collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS })).toEqual({
      url: "http://127.0.0.1:4318/v1/traces",
      headers: { authorization: "Bearer abc", "x-team": "bots" },
    });
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = "https://own.example/traces";
    expect(collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })?.url).toBe(
      "https://own.example/traces",
    );
    expect(collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
  });

  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "file:///etc" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_HEADERS: "topsecret" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_HEADERS: "a=%zz" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_HEADERS: "a b=topsecret" },
  ])("is refused without its secrets: %j", (env) => {
    expect(() => collectorOf(env)).toThrow(expect.objectContaining({ code: "telemetry-collector" }));
    expect(() => collectorOf(env)).not.toThrow(/topsecret/);
  });
});
