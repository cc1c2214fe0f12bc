import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createExecuteTool, loaderExecutor } from "../../../src/codemode/index.ts";
import { expectShown } from "../support/asking-bot.ts";
import { createCodeBot, useCodemode } from "../support/code-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { testEnv } from "../test-env.ts";

beforeEach(() => void captureLog());
let end: () => void;
beforeAll(() => void (end = useCodemode()));
afterAll(() => end());

describe("code in a Worker of its own", () => {
  it("waits for a person, and then goes on with the same time and the same random numbers", async () => {
    const bot = createCodeBot({}, {}, loaderExecutor(testEnv.LOADER));
    await bot.world.write(
      "c1",
      "run async () => { const to = 'p' + Math.random() + Date.now(); await mail.tag({ to }); await mail.send({ to }); return 'sent'; }",
    );
    await expectShown(bot.world, "Sends a mail to a person");
    const [tagged = ""] = bot.done;
    expect(tagged).toMatch(/^tag p0\.\d/);
    await bot.world.press("c1", "Approve");
    await expectShown(bot.world, '"result":"sent"');
    expect(bot.done).toEqual([tagged, tagged.replace("tag", "send")]);
  });

  it("ends with an error, also if it is no JavaScript", async () => {
    const bot = createCodeBot({}, {}, loaderExecutor(testEnv.LOADER));
    await bot.world.write("c1", "run async () => {");
    await expectShown(bot.world, "SyntaxError");
    const [run] = await bot.runtime((runtime) => runtime.executions());
    expect(run?.status).toBe("error");
  });

  it("makes no call after its run was dropped", async () => {
    const gate = Promise.withResolvers<string>();
    const bot = createCodeBot({}, { slow: { execute: () => gate.promise } }, loaderExecutor(testEnv.LOADER));
    await bot.world.write(
      "c1",
      "run async () => { try { await mail.slow(); } catch {} finally { await mail.tag({ to: 'ann' }); } return 1; }",
    );
    await vi.waitFor(async () => {
      const [run] = await bot.runtime((runtime) => runtime.executions());
      expect(run?.log.at(-1)?.state).toBe("executing");
    }, 8000);
    gate.resolve("late");
    await expectShown(bot.world, '"result":1');
    expect(bot.done).toEqual(["tag ann"]);
  });

  it("runs for createExecuteTool, too", async () => {
    const tool = createExecuteTool({ tools: {}, loader: testEnv.LOADER });
    const call = { toolCallId: "t", messages: [], abortSignal: undefined, context: undefined };
    expect(await tool.execute?.({ code: "async () => 6 * 7" }, call as never)).toEqual({ result: 42 });
  });
});
