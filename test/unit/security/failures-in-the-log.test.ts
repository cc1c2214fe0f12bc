import { describe, expect, it } from "vitest";
import { logBotFailure } from "../../../src/core/time/bot-code.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import { createLog } from "../../../src/core/base/log.ts";

function logged(error: unknown): string {
  const lines: string[] = [];
  logBotFailure(
    createLog((_level, line) => void lines.push(line)),
    "getTools",
    error,
  );
  return lines.join("\n");
}

describe("an error of the bot's own code in the log", () => {
  it("tells where it happened", () => {
    expect(logged(new TypeError("words of a person"))).toMatch(/failures-in-the-log\.test\.ts:\d+/);
  });

  it.each(["words of a person", "first\n    at words of a person (x:1:1)", "at words of a person", "%s"])(
    "holds nothing of the message %j",
    (message) => {
      expect(logged(new Error(message))).not.toContain("words");
      expect(logged(new Error("other", { cause: new Error(message) }))).not.toContain("words");
      const renamed = new Error(message);
      renamed.message = "changed";
      expect(logged(renamed)).not.toContain("words");
      expect(logged(message)).not.toContain("words");
      expect(logged({ message, stack: `\n    at ${message}` })).not.toContain("words");
    },
  );

  it.each(["what a person wrote", "a\nb", "x".repeat(65), ""])("takes %j for no code", (code) => {
    const error = Object.assign(new Error("x"), { code });
    expect(errorCode(error)).toBeUndefined();
    expect(JSON.parse(logged(error))).toMatchObject({ code: "Error" });
    expect(errorCode({ code: "ERR_X.y:z-1" })).toBe("ERR_X.y:z-1");
  });

  it("is one line, whatever it holds", () => {
    const error = Object.assign(new Error("x"), { code: 'a\nb\u2028{"level":"info"}' });
    expect(logged(error).split("\n")).toHaveLength(1);
  });
});
