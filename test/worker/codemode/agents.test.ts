import type { ToolSet } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createQuickJSExecutor, createCodemodeRuntime } from "../../../src/codemode/index.ts";
import { agentTool } from "../../../src/agent-tools/index.ts";
import { z } from "zod";
import { createAgentBot, isChild, topicOf } from "../support/agent-bot.ts";
import { expectShown } from "../support/asking-bot.ts";
import { codeScript, MailConnector, useCodemode } from "../support/code-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool } from "../support/scripted-model.ts";
import type { World } from "../support/world.ts";
import { ChildBot } from "../worker.ts";

beforeEach(() => void captureLog());
let end: () => void;
beforeAll(() => void (end = useCodemode()));
afterAll(() => end());

const TWO = "async () => [(await mail.send({ to: 'bob' })).to, (await mail.send({ to: 'cid' })).to]";

/** A bot whose agent runs code that sends two mails, each with a person's consent. */
function createBot(): { readonly world: World; readonly done: string[] } {
  const done: string[] = [];
  const research = agentTool(ChildBot, {
    description: "Researches a topic.",
    inputSchema: z.object({ topic: z.string() }),
  });
  const world = createAgentBot({
    child: (request) =>
      topicOf(request) === "mails" ? [callTool("codemode", { code: TWO })] : codeScript(request),
    getTools: (agent): ToolSet => {
      if (!isChild(agent)) return { research };
      const { ctx } = agent as unknown as { readonly ctx: object };
      const connectors = [new MailConnector(ctx, done)];
      return {
        codemode: createCodemodeRuntime({
          ctx,
          connectors,
          executor: createQuickJSExecutor(),
        }).tool(),
      };
    },
  });
  return { world, done };
}

describe("an agent whose code waits for people", () => {
  it("gives what it says when the code has ended", async () => {
    const { done, world } = createBot();
    await world.write("c1", "Research mails");
    await expectShown(world, "bob");
    await world.press("c1", "Approve");
    await expectShown(world, "cid");
    expect(done).toEqual(["send bob"]);
    await world.press("c1", "Approve");
    await expectShown(world, "Told:");
    expect(done).toEqual(["send bob", "send cid"]);
    expect(world.chats.visible("c1").at(-1)).toContain('"result":["bob","cid"]');
  });

  it("tells of a refusal", async () => {
    const { done, world } = createBot();
    await world.write("c1", "Research mails");
    await expectShown(world, "bob");
    await world.press("c1", "Approve");
    await expectShown(world, "cid");
    await world.press("c1", "Reject");
    await expectShown(world, "Told:");
    expect(done).toEqual(["send bob"]);
    expect(world.chats.visible("c1").at(-1)).toContain("The action did not run.");
  });
});
