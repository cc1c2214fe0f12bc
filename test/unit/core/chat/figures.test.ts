import { describe, expect, it } from "vitest";
import { countedLog, Figures } from "../../../../src/core/chat/figures.ts";
import { createLog } from "../../../../src/core/base/log.ts";
import { renderMetrics } from "../../../../src/messengers/root/health/render-metrics.ts";

function createRig(threshold: "info" | "silent" = "silent") {
  const figures = new Figures();
  const lines: string[] = [];
  const log = countedLog(
    createLog((_level, line) => lines.push(line), { threshold }),
    () => figures,
    () => 1_000,
  ).with({ conversation: "c" });
  return { figures, lines, log };
}

describe("the figures of a bot", () => {
  it("count what the log tells, also if LOG_LEVEL leaves the line out", () => {
    const { figures, lines, log } = createRig();
    log.info("inbox.event", { outcome: "ignored: no mention" });
    log.info("inbox.event", { outcome: "ignored: edit" });
    log.info("turn.ended", { outcome: "done", durationMs: 1500, steps: 2, toolCalls: 1, inputTokens: 10 });
    log.error("model.call-failed", { code: "model-overloaded", provider: "p" });
    log.warn("delivery.call-failed", { kind: "retry-after", code: "too-many-requests", chat: "5" });
    expect(lines).toEqual([]);
    expect(figures.all()).toMatchObject({
      'switchboard_events_total{outcome="ignored"}': 2,
      'switchboard_turns_total{outcome="done"}': 1,
      'switchboard_turn_seconds_bucket{le="1"}': 0,
      'switchboard_turn_seconds_bucket{le="2"}': 1,
      'switchboard_turn_seconds_bucket{le="+Inf"}': 1,
      switchboard_turn_seconds_sum: 1.5,
      switchboard_model_calls_total: 2,
      'switchboard_tokens_total{kind="input"}': 10,
      'switchboard_tokens_total{kind="output"}': 0,
      'switchboard_model_failures_total{code="model-overloaded"}': 1,
      'switchboard_platform_failures_total{kind="retry-after",code="too-many-requests"}': 1,
      'switchboard_problems_total{level="error",event="model.call-failed"}': 1,
    });
    // Labels never tell chats or people apart.
    expect(JSON.stringify(figures.all())).not.toContain("chat");
  });

  it("note chats whose person has not written for too long, and no other ends", () => {
    const { figures, log } = createRig();
    log.warn("chat.gone", { messenger: "wa", chat: "1", code: "window-closed" });
    log.warn("chat-sdk.not-delivered", { messenger: "wa", chat: "2", code: "window-closed" });
    log.warn("chat.gone", { messenger: "wa", chat: "3", code: "recipient-unreachable" });
    expect([...figures.notes().keys()]).toEqual(["window wa 1", "window wa 2"]);
  });

  it("pass the lines on", () => {
    const { lines, log } = createRig("info");
    log.info("turn.begun", { turn: "1" });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event: "turn.begun", conversation: "c", turn: "1" });
  });

  it("are taken once, and added up where they arrive", () => {
    const [here, there] = [new Figures(), new Figures()];
    here.count("a", {}, 2);
    there.count("a", {});
    here.note("n", { at: 5, code: "x" });
    there.note("n", { at: 7, code: "newer" });
    there.absorb(here.take() ?? { counts: {}, notes: {} });
    expect(there.notes().get("n")).toEqual({ at: 7, code: "newer" });
    expect(here.take()).toBeUndefined();
    expect(there.all()).toEqual({ a: 3 });
  });

  it("do not grow without end when a platform invents codes", () => {
    const figures = new Figures();
    for (let code = 0; code < 5_000; code += 1) figures.count("a", { code: String(code) });
    expect(Object.keys(figures.all())).toHaveLength(2_000);
    figures.count("a", { code: "7" });
    expect(figures.all()['a{code="7"}']).toBe(2);
  });

  it("are written in the format of Prometheus, each metric once with its type", () => {
    const figures = new Figures();
    figures.observe("switchboard_webhook_seconds", { status: "200" }, 40);
    figures.count("switchboard_turns_total", { outcome: 'a "b"\n\\' });
    figures.observe("switchboard_webhook_seconds", { status: "503" }, 700_000);
    const text = renderMetrics(figures.all());
    expect(text.split("\n").filter((line) => line.startsWith("# TYPE"))).toEqual([
      "# TYPE switchboard_webhook_seconds histogram",
      "# TYPE switchboard_turns_total counter",
    ]);
    expect(text).toContain(String.raw`switchboard_turns_total{outcome="a \"b\"\n\\"} 1` + "\n");
    expect(text).toContain('switchboard_webhook_seconds_bucket{status="200",le="0.1"} 1\n');
    expect(text).toContain('switchboard_webhook_seconds_bucket{status="503",le="300"} 0\n');
    expect(text).toContain('switchboard_webhook_seconds_count{status="503"} 1\n');
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? [\d.]+)$/);
    }
  });
});
