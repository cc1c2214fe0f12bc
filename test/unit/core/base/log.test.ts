import { describe, expect, it } from "vitest";
import { createLog, logThreshold } from "../../../../src/core/base/log.ts";

function createRig() {
  const lines: string[] = [];
  const log = createLog((level, line) => lines.push(`${level} ${line}`), { now: () => 1_700_000_000_123 });
  return { lines, log };
}

describe("the level of a log", () => {
  it.each([
    ["info", ["a", "b", "c"]],
    ["warn", ["b", "c"]],
    ["ERROR", ["c"]],
    ["silent", []],
    ["loud", ["a", "b", "c"]],
    [undefined, ["a", "b", "c"]],
  ])("writes with LOG_LEVEL=%s: %j", (value, expected) => {
    const written: unknown[] = [];
    const log = createLog((_level, line) => written.push((JSON.parse(line) as { event: string }).event), {
      threshold: logThreshold(value),
    });
    const named = log.with({ messenger: "telegram" });
    log.info("a");
    named.warn("b");
    named.error("c");
    expect(written).toEqual(expected);
  });
});

describe("a line of the log", () => {
  it("begins with its time, level and event", () => {
    const { lines, log } = createRig();
    log.warn("chat.gone", { code: "blocked" });
    expect(lines).toEqual([
      'warn {"time":"2023-11-14T22:13:20.123Z","level":"warn","event":"chat.gone","code":"blocked"}',
    ]);
  });

  it("has the fields of its log, of which its own win", () => {
    const { lines, log } = createRig();
    const named = log.with({ messenger: "telegram", turn: "1" }).with({ chat: "5" });
    named.info("a", { turn: "2" });
    log.info("b");
    expect(lines.map((line) => JSON.parse(line.slice(5)) as object)).toMatchObject([
      { event: "a", messenger: "telegram", chat: "5", turn: "2" },
      { event: "b" },
    ]);
    expect(lines[1]).not.toContain("telegram");
  });

  it("reveals no words unless it is told to", () => {
    expect(createRig().log.reveal("psst")).toBeUndefined();
    expect(createRig().log.with({ a: 1 }).reveal("psst")).toBeUndefined();
  });
});
