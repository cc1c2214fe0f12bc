import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { createRefundBot, shown, told } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const inputSchema = z.object({ orderId: z.string() });

describe("an action that is not enabled", () => {
  it("is not offered, and a call of it all the same does nothing and is answered", async () => {
    let runs = 0;
    const world = createWorld({
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("It is closed.")] : [callTool("refund", { orderId: "7" })],
      getActions: () => ({
        refund: action({
          description: "Refund an order.",
          inputSchema,
          enabled: ({ chat, person }) => chat?.chatId === "c2" && person?.userId === "ada",
          execute: () => {
            runs += 1;
            return "paid";
          },
        }),
        look: action({
          description: "Look.",
          instructions: "Only when asked.",
          inputSchema,
          execute: () => "seen",
        }),
      }),
    });
    await world.write("c1", "Refund 7");
    await world.shows("c1", "It is closed.");
    expect(world.requests[0]?.tools).toEqual(["look"]);
    expect(JSON.stringify(world.requests.at(-1)?.prompt.at(-1))).toContain("refund");
    expect(runs).toBe(0);
    await world.write("c2", "Refund 7");
    await world.shows("c2", "It is closed.");
    expect(world.requests.at(-1)?.tools).toEqual(["refund", "look"]);
    expect(runs).toBe(1);
    expect(log.filter(({ event }) => event === "bot.failed")).toEqual([]);
  });
});

describe("an action that runs long", () => {
  it("shows one line below the answer, asks the model, writes a log line, and leaves the answer alone", async () => {
    const gate = createGate();
    const world = createWorld({
      settings: { keepUsageMs: 60_000 },
      script: ({ isStreamed, prompt }) => {
        if (!isStreamed) return [say("a summary")];
        if (prompt.at(-1)?.role === "tool") return [say(" Done.")];
        return [say("I look at it."), callTool("export", { orderId: "7" })];
      },
      getActions: () => ({
        export: action({
          description: "Export.",
          inputSchema,
          execute: async (_input, { caller, client, log: write, progress, sample }) => {
            write({ message: "began", meta: { rows: 3, action: "another" } });
            progress({ message: "Reading\npage *3*", fraction: 0.405 });
            await gate.pass();
            return { said: await sample({ prompt: "Sum it up" }), caller, client };
          },
        }),
      }),
    });
    await world.write("c1", "Export 7");
    await world.shows("c1", "I look at it.\n\n⏳ Reading page *3* 40 %");
    gate.open();
    await world.shows("c1", "I look at it.\n\nDone.");
    expect(JSON.stringify(world.requests.at(-1)?.prompt.at(-1))).toContain("a summary");
    expect(JSON.stringify(world.requests.at(-1)?.prompt.at(-1))).toContain(
      '"client":{"kind":"chat","messengerId":"fake"}',
    );
    expect(log.find(({ event }) => event === "action.log")).toMatchObject({
      action: "export",
      message: "began",
      rows: 3,
    });
    // Two calls of the turn, and the one of the action.
    expect(log.find(({ event }) => event === "turn.ended")).toMatchObject({ inputTokens: 3 });
  });
});

it("shows the result of an approved call on its card as `format` says it", async () => {
  const { world } = createRefundBot({ format: ({ input }) => `Paid back ${input.orderId}` });
  await world.write("c1", "Refund 7");
  await shown(world, "Refund order 7?");
  await world.press("c1", "Approve");
  await shown(world, "Result: Paid back 7");
  await shown(world, "Told: ");
  expect(told(world).join()).toContain('→ {"refunded":"7"}');
});

describe("ctx.sample with a schema", () => {
  it.each([
    ["a value of it", '{"topic":"rain"}', '"topic":"rain"'],
    ["an error for an answer that does not fit", '{"topic":7}', "ActionFailed"],
  ])("returns %s", async (_what, answer, read) => {
    const world = createWorld({
      script: ({ isStreamed, prompt }) => {
        if (!isStreamed) return [say(answer)];
        return prompt.at(-1)?.role === "tool" ? [say("Done.")] : [callTool("look")];
      },
      getActions: () => ({
        look: action({
          description: "Looks.",
          inputSchema: z.object({}),
          execute: (_input, { sample }) =>
            sample({ prompt: "What is it about?", schema: z.object({ topic: z.string() }) }),
        }),
      }),
    });
    await world.write("c1", "Look");
    await world.shows("c1", "Done.");
    expect(JSON.stringify(world.requests.at(-1)?.prompt.at(-1)).replaceAll("\\", "")).toContain(read);
  });
});
