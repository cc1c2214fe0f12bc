import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action, ActionError } from "../../../src/index.ts";
import type { ThinkActions } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelStep } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/**
 * The page "Actions" of Daydreams, section by section. Where a name or a way differs, the test says which decision
 * record has the reason.
 */

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

/** A bot whose model takes these steps after each message, one group for each of its calls. */
function createBot(actions: ThinkActions, ...steps: readonly (readonly ModelStep[])[]): World {
  return createWorld({
    settings: { actionTemplates: true },
    getActions: () => actions,
    script: ({ prompt }) => {
      const asked = prompt.findLastIndex(({ role }) => role === "user");
      return steps[prompt.slice(asked).filter(({ role }) => role === "assistant").length] ?? [say("Done.")];
    },
  });
}

const readBy = (world: World): string => JSON.stringify(world.requests.at(-1)?.prompt.at(-1));

describe("Key Parameters", () => {
  it("has each of them, under Think's names where those differ (decision 14)", async () => {
    const failures: unknown[] = [];
    let tries = 0;
    const sendTweet = action({
      name: "send_tweet",
      description: "Sends a tweet.",
      instructions: "Only what the person has seen.",
      // Daydreams: schema
      inputSchema: z.object({ text: z.string().max(280) }),
      returns: z.object({ id: z.string(), count: z.number() }),
      format: ({ input, output }) => `${input.text}: ${JSON.stringify(output)}`,
      memory: { schema: z.object({ count: z.number() }) },
      enabled: ({ chat }) => chat?.chatId === "c1",
      retry: ({ failures: failed }) => failed < 2,
      onError: ({ error }) => failures.push(error),
      // Daydreams: context
      contexts: ["posting"],
      // Daydreams: handler
      execute: async ({ text }, { memory }) => {
        tries += 1;
        if (tries === 1) throw new Error("busy");
        const { count } = await memory.update((before) => ({ count: (before?.count ?? 0) + 1 }));
        return { id: `t_${text}`, count };
      },
    });
    const post = action({
      description: "Begins to post.",
      inputSchema: z.object({}),
      execute: (_input, { activateContext }) => activateContext("posting"),
    });
    const world = createBot({ post, sendTweet }, [callTool("post")], [callTool("send_tweet", { text: "A" })]);
    await world.write("c1", "Tweet A");
    await world.shows("c1", "Done.");
    expect(world.requests.map(({ tools }) => tools)).toEqual([
      ["post"],
      ["post", "send_tweet"],
      ["post", "send_tweet"],
    ]);
    expect(readBy(world)).toContain('{"id":"t_A","count":1}');
    expect([tries, failures]).toEqual([2, []]);
    await world.write("c2", "Tweet B");
    await world.shows("c2", "Done.");
    expect(world.requests.at(-1)?.tools).toEqual(["post"]);
    expect(tries).toBe(2);
  });

  it("calls onError after the last try, and the model reads what that throws", async () => {
    const failures: number[] = [];
    const pay = action({
      description: "Pays.",
      inputSchema: z.object({}),
      retry: 1,
      onError: ({ failures: failed }) => {
        failures.push(failed);
        throw new ActionError("The bank is closed.");
      },
      execute: () => {
        throw new Error("busy");
      },
    });
    const world = createBot({ pay }, [callTool("pay")]);
    await world.write("c1", "Pay");
    await world.shows("c1", "Done.");
    expect(failures).toEqual([2]);
    expect(readBy(world)).toContain("The bank is closed.");
    expect(readBy(world)).not.toContain("busy");
  });
});

describe("LLM Interaction", () => {
  it("takes calls of the model only: a call in a text is its adapter's work (decision 14)", async () => {
    const runs: string[] = [];
    const addItem = action({
      description: "Adds.",
      inputSchema: z.object({ sku: z.string() }),
      execute: ({ sku }) => {
        runs.push(sku);
        return "added";
      },
    });
    const text = 'Adding. <action_call name="addItem">{"sku":"A"}</action_call>';
    const world = createBot({ addItem }, [say(text)]);
    await world.write("c1", "Add A");
    await expect.poll(() => world.chats.visible("c1").join(), { timeout: 8000 }).toContain("Adding.");
    expect(runs).toEqual([]);
  });
});

describe("Execution Flow", () => {
  const make = action({
    description: "Makes an order.",
    inputSchema: z.object({}),
    execute: (_input, { shortTermMemory }) => {
      shortTermMemory.set("someKey", "of the cart");
      return { id: 7 };
    },
  });

  it("resolves templates, then validates, runs, and gives the result to the next step", async () => {
    const seen: unknown[] = [];
    const send = action({
      description: "Sends it.",
      inputSchema: z.object({ id: z.number(), note: z.string() }),
      execute: (input) => {
        seen.push(input);
        return { sent: input.id };
      },
    });
    const call = callTool("send", { id: "{{calls[0].id}}", note: "{{shortTermMemory.someKey}}" });
    const world = createBot({ make, send }, [callTool("make"), call]);
    await world.write("c1", "Send it");
    await world.shows("c1", "Done.");
    expect(seen).toEqual([{ id: 7, note: "of the cart" }]);
    expect(readBy(world)).toContain('{"sent":7}');
  });

  it("runs nothing for arguments that do not fit, and tells the model where", async () => {
    const runs: string[] = [];
    const send = action({
      description: "Sends it.",
      inputSchema: z.object({ id: z.number() }),
      execute: () => void runs.push("run"),
    });
    const wrong = [callTool("send", { id: "seven" }), callTool("send", { id: "{{calls[0].number}}" })];
    const world = createBot({ make, send }, [callTool("make")], wrong);
    await world.write("c1", "Send it");
    await world.shows("c1", "Done.");
    expect(runs).toEqual([]);
    expect(readBy(world)).toContain('"path":["id"]');
    expect(readBy(world)).toContain("there is no calls[0].number");
  });
});

it("logs the end of a run, and the words of its format only with DEBUG=1 (I10)", async () => {
  const look = action({
    description: "Looks.",
    inputSchema: z.object({}),
    format: () => "looked",
    execute: () => ({ rows: [1, 2, 3] }),
  });
  const world = createBot({ look }, [callTool("look")]);
  await world.write("c1", "Look");
  await world.shows("c1", "Done.");
  expect(log.find(({ event }) => event === "action.done")).toMatchObject({ action: "look" });
  expect(log.find(({ event }) => event === "action.done")).not.toHaveProperty("result");
});
