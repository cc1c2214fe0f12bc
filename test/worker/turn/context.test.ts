import { tool } from "ai";
import type { ToolSet } from "ai";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { getMessengerContext } from "../../../src/messengers/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import type { Gate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

/** Where the code of the bot was asked, and for which message. */
type Sighting = readonly [place: string, text: string | undefined];

function watched(options: WorldOptions & { readonly gate?: Gate } = {}): {
  readonly world: World;
  readonly seen: Sighting[];
} {
  const seen: Sighting[] = [];
  const see = (place: string): void => void seen.push([place, getMessengerContext()?.message?.text]);
  const { gate, ...rest } = options;
  const world = createWorld({
    getSystemPrompt: async (agent) => {
      see("system");
      await Promise.resolve();
      seen.push(["system, later", agent.getMessengerContext()?.message?.text]);
      return "You are a test.";
    },
    getTools: async (): Promise<ToolSet> => {
      see("tools");
      await Promise.resolve();
      see("tools, later");
      return {
        look: tool({
          inputSchema: z.object({}),
          execute: async () => {
            see("execute");
            await gate?.pass();
            await new Promise((resolve) => setTimeout(resolve, 0));
            see("execute, later");
            return "looked";
          },
        }),
      };
    },
    script: ({ prompt, said }) =>
      prompt.at(-1)?.role === "tool" ? [say(`Saw ${said}`)] : [callTool("look")],
    ...rest,
  });
  return { world, seen };
}

const PLACES = ["system", "system, later", "tools", "tools, later", "execute", "execute, later"];

function seenFor(seen: readonly Sighting[], text: string): string[] {
  return [...new Set(seen.filter(([, of]) => of === text).map(([place]) => place))].sort();
}

describe("getMessengerContext", () => {
  it("is the event that the turn answers, wherever the bot's code runs, also after an await", async () => {
    const { seen, world } = watched();
    await world.write("c1", "one");
    await world.shows("c1", "Saw one");
    expect(seenFor(seen, "one")).toEqual([...PLACES].sort());
    expect(seen.filter(([, text]) => text !== "one")).toEqual([]);
    await world.write("c1", "two");
    await world.shows("c1", "Saw one", "Saw two");
    expect(seenFor(seen, "two")).toEqual([...PLACES].sort());
  });

  it.each([
    ["two conversations", "thread" as const],
    ["two threads of one conversation", "self" as const],
  ])("is each turn's own when %s have turns at once (I11)", async (_name, conversation) => {
    const gate = createGate();
    const { seen, world } = watched({ gate, messenger: { conversation } });
    await world.write("c1", "one");
    await untilReached(gate);
    await world.write("c2", "two");
    if (conversation === "thread") {
      await expect.poll(() => seen.filter(([place]) => place === "execute").length).toBe(2);
    }
    gate.open();
    await world.shows("c1", "Saw one");
    await world.shows("c2", "Saw two");
    expect(seenFor(seen, "one")).toEqual([...PLACES].sort());
    expect(seenFor(seen, "two")).toEqual([...PLACES].sort());
    expect(seen.filter(([place]) => place.startsWith("execute"))).toHaveLength(4);
  });

  it("holds the thread, the author and the provider, and no raw update", async () => {
    let context: ReturnType<typeof getMessengerContext>;
    const { world } = watched({
      getSystemPrompt: () => {
        context = getMessengerContext();
        return "You are a test.";
      },
    });
    await world.write("g1", "one", { isGroup: true, mentions: true });
    await world.shows("g1", "Saw ada: one");
    expect(context).toMatchObject({
      kind: "mention",
      messengerId: "fake",
      provider: "fake",
      thread: { id: "fake:g1", chatId: "g1", isDirectMessage: false },
      author: { userId: "ada" },
    });
    expect(context).not.toHaveProperty("raw");
  });

  it("is a command's own event inside its handler", async () => {
    const world = createWorld({
      commands: {
        who: {
          description: "Who asks",
          handler: async () => {
            await Promise.resolve();
            return getMessengerContext()?.author?.userId ?? "nobody";
          },
        },
      },
    });
    await world.write("c1", "/who", { user: "eve" });
    await world.shows("c1", "eve");
    expect(world.requests).toEqual([]);
  });

  it("is undefined outside of a messenger's turn, also while one runs in another object", async () => {
    const gate = createGate();
    const { seen, world } = watched({ gate });
    await world.write("c1", "one");
    await untilReached(gate);
    seen.length = 0;
    const chat = world.child("chat").chat("Hello", {
      onStart: () => {},
      onEvent: () => {},
      onDone: () => {},
      onError: () => {},
    });
    await expect.poll(() => seen.map(([place]) => place)).toContain("execute");
    expect(seen.filter(([, text]) => text !== undefined)).toEqual([]);
    expect(getMessengerContext()).toBeUndefined();
    gate.open();
    await chat;
    await world.shows("c1", "Saw one");
  });
});

it("has Think's names beside ours, which JSON leaves out", async () => {
  const seen: unknown[] = [];
  const world = createWorld({
    hooks: {
      beforeTurn: () => {
        const context = getMessengerContext();
        const sizes = [context?.attachments[0]?.size, context?.message?.attachments[0]?.size];
        seen.push([...sizes, context?.thread.channelId, JSON.stringify(context)]);
      },
    },
  });
  const file = { id: "f1", kind: "document", mediaType: "application/zip", name: "a.zip" } as const;
  await world.write("c1", "Look", { files: [{ ...file, sizeBytes: 12 }] });
  await expect.poll(() => seen).toHaveLength(1);
  expect(seen).toEqual([[12, 12, "c1", expect.not.stringMatching(/"size"|channelId/) as unknown]]);
});

it("has Think's names of a press beside ours", async () => {
  const seen: unknown[] = [];
  const world = createWorld({
    messenger: { respondTo: ["direct-message", "action"] },
    hooks: {
      beforeTurn: () => {
        const { action } = getMessengerContext() ?? {};
        seen.push([action?.actionId, action?.value, JSON.stringify(action)]);
      },
    },
  });
  await world.post({ kind: "press", id: "p1", chat: "c1", user: "ada", text: "size-l" });
  await expect.poll(() => seen).toHaveLength(1);
  expect(seen).toEqual([["size-l", "size-l", expect.not.stringMatching(/actionId|value/) as unknown]]);
});
