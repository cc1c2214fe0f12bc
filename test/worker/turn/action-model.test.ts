import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
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
