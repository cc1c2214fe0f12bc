import { describe, expect, it } from "vitest";
import { readableLine } from "../../../../ops/serve/log/readable-line.ts";

const time = new Date(2026, 10, 22, 2, 34, 9).toISOString();

function readable(fields: object): string {
  return readableLine(JSON.stringify({ time, level: "info", ...fields }));
}

describe("the log in a terminal", () => {
  it("has the time, the event and what one looks for", () => {
    const line = readable({
      event: "turn.ended",
      conversation: "thread:telegram:telegram%3A1",
      turn: "0db6c927-e3ed-4fbe-923f-5edec92246a7",
      messenger: "telegram",
      chat: "1",
      thread: "telegram:1",
      key: "m:1:1",
      outcome: "the chat is gone",
      durationMs: 426,
    });
    expect(line).toBe(
      '02:34:09 turn.ended turn=0db6c927 thread=telegram:1 outcome="the chat is gone" durationMs=426',
    );
  });

  it("shows what a bot's code threw, and where, below", () => {
    const line = readable({
      level: "error",
      event: "bot.failed",
      method: "tool find",
      code: "Error",
      message: "No such\nbook",
      at: "at find (bot/worker.ts:4:2) < at x (src/y.ts:1:1)",
    });
    expect(line.split("\n")).toEqual([
      '02:34:09 ERROR bot.failed method="tool find" code=Error',
      "         No such",
      "         book",
      "         at find (bot/worker.ts:4:2)",
      "         at x (src/y.ts:1:1)",
    ]);
  });

  it("shows what the bot prints as it is", () => {
    expect(readable({ event: "bot.output", text: "hello" })).toBe("02:34:09 hello");
  });

  it("shows what the server says as it is", () => {
    expect(readable({ event: "serve.stopping", text: "stopping" })).toBe("02:34:09 stopping");
  });

  it.each(["[serve] ready on http://127.0.0.1:1", "{broken", "{}", "[]"])("leaves %j alone", (line) => {
    expect(readableLine(line)).toBe(line);
  });
});
