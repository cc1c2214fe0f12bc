import { tool } from "ai";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createExecuteTool } from "../../../src/codemode/index.ts";
import { expectShown } from "../support/asking-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";

beforeEach(() => void captureLog());

const find = tool({
  description: "Finds a number.",
  inputSchema: z.object({ of: z.string() }),
  execute: ({ of }) => ({ number: of.length }),
});

describe("createExecuteTool", () => {
  it("runs code of the model that calls the given tools", async () => {
    const code =
      "async () => { const all = await Promise.all(['a', 'bcd'].map((of) => codemode.find({ of }))); return all.map((one) => one.number); }";
    const world = createWorld({
      getTools: () => ({ execute: createExecuteTool({ tools: { find } }) as never }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? [say(`Got ${JSON.stringify(prompt.at(-1)?.content)}`)]
          : [callTool("execute", { code })],
    });
    await world.write("c1", "go");
    await expectShown(world, '"result":[1,3]');
  });

  it("tells the model the tools in TypeScript", () => {
    const { description } = createExecuteTool({ tools: { find } });
    expect(description).toContain("declare const codemode: {");
    expect(description).toContain("find(input: { of: string }): Promise<unknown>;");
  });

  it("refuses a tool that needs approval, because its code cannot wait", () => {
    const asking = { ...find, needsApproval: true };
    expect(() => createExecuteTool({ tools: { asking } })).toThrow(/createCodemodeRuntime/);
  });
});
