import { describe, expect, it } from "vitest";
import { runBotCode } from "../../../src/core/time/bot-code.ts";
import { ConfigurationError } from "../../../src/core/base/errors.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

function createRig() {
  const lines: string[] = [];
  const clock = createVirtualClock();
  return { lines, clock, log: createLog((_level, line) => void lines.push(line)) };
}

describe("runBotCode", () => {
  it("hands back what a method returns, at once or later", async () => {
    const rig = createRig();
    expect(await runBotCode(rig, "getTools", () => 1)).toBe(1);
    expect(await runBotCode(rig, "getTools", () => Promise.resolve(2))).toBe(2);
    expect(rig.lines).toEqual([]);
  });

  it("says in the log which method threw and where, without the words of a foreign error (I10)", async () => {
    const rig = createRig();
    const run = runBotCode(rig, "getSystemPrompt", () => {
      throw new TypeError("the person wrote psst");
    });
    await expect(run).rejects.toMatchObject({ code: "bot-code-failed" });
    expect(JSON.parse(rig.lines[0] ?? "")).toMatchObject({
      event: "bot.failed",
      method: "getSystemPrompt",
      code: "TypeError",
      at: expect.stringContaining("bot-code.test.ts") as unknown,
    });
    expect(rig.lines.join()).not.toContain("psst");
  });

  it("keeps the words of our own errors, which say the fix", async () => {
    const rig = createRig();
    const run = runBotCode(rig, "getTools", () =>
      Promise.reject(new ConfigurationError("x_wrong", "Set X.")),
    );
    await expect(run).rejects.toMatchObject({ code: "bot-code-failed" });
    expect(JSON.parse(rig.lines[0] ?? "")).toMatchObject({ code: "x_wrong", message: "Set X." });
  });

  it("has the words of a foreign error, and those of its causes, where the log reveals them", async () => {
    const rig = createRig();
    const log = createLog((_level, line) => void rig.lines.push(line), { reveal: (words) => `<${words}>` });
    const run = runBotCode({ ...rig, log }, "getTools", () => {
      throw new TypeError("fetch failed", { cause: new Error("refused", { cause: "closed" }) });
    });
    await expect(run).rejects.toMatchObject({ code: "bot-code-failed" });
    expect(JSON.parse(rig.lines[0] ?? "")).toMatchObject({
      code: "TypeError",
      message: "<fetch failed (cause) refused (cause) closed>",
    });
  });

  it("gives up after 30 seconds", async () => {
    const rig = createRig();
    const run = runBotCode(rig, "getTools", () => new Promise<never>(() => {}));
    const failure = run.catch((error: unknown) => error);
    await rig.clock.advance(29_999);
    expect(rig.lines).toEqual([]);
    await rig.clock.advance(1);
    expect(await failure).toMatchObject({ code: "bot-code-failed" });
    expect(JSON.parse(rig.lines[0] ?? "")).toMatchObject({ method: "getTools", code: "took-too-long" });
  });
});
