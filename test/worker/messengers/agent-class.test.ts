import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { ConversationTarget } from "../../../src/messengers/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { say } from "../support/scripted-model.ts";
import type { ModelRequest } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ChildBot, OtherBot, ScriptedBot } from "../worker.ts";

/** A bot whose function chooses this class for each chat. Its answers tell class, and how often the chat was answered. */
function createChoosing(chosen: { of?: unknown }, options: WorldOptions = {}): World {
  return createWorld({
    messenger: {
      conversation: ({ thread }) =>
        ({
          target: "subagent",
          name: thread.chatId,
          ...(chosen.of !== undefined && { agentClass: chosen.of }),
        }) as ConversationTarget,
    },
    getSystemPrompt: (agent) => agent.constructor.name,
    script: ({ prompt, said }) => {
      const own = prompt.filter(({ role }) => role === "user").length;
      return [say(`${systemOf(prompt)} ${own}: ${said}`)];
    },
    ...options,
  });
}

function systemOf([system]: ModelRequest["prompt"]): string {
  return system?.role === "system" ? system.content : "";
}

const warningsOf = async (world: World): Promise<readonly { code: string; message: string }[]> =>
  (await runInDurableObject(world.stub, (bot) => bot.inner("bot.healthWarnings", []))) as never;

describe("the class that a conversation function chooses", () => {
  it("answers a new conversation, under the bot's own gate and rate", async () => {
    const world = createChoosing({ of: OtherBot });
    await world.write("c1", "Hello");
    await world.shows("c1", "OtherBot 1: Hello");
    await world.write("c1", "Again");
    await world.shows("c1", "OtherBot 1: Hello", "OtherBot 2: Again");
    const tables = await runInDurableObject(
      testEnv.OtherBot.getByName(`${world.root}/named:c1`),
      (_bot, { storage }) =>
        storage.sql
          .exec<{ name: string }>("SELECT name FROM sqlite_master")
          .toArray()
          .map(({ name }) => name),
    );
    expect(tables.filter((name) => /^(?:gate|chat|directory|box)_v/.test(name))).toEqual([]);
    expect(await world.stub.listConversations()).toMatchObject([{ name: "OtherBot@named:c1" }]);
  });

  it.each([
    ["another one", undefined, OtherBot, "ScriptedBot"],
    ["none any more", OtherBot, undefined, "OtherBot"],
  ])("does not move a conversation when it becomes %s, and /health says so", async (_, first, then, kept) => {
    const chosen: { of?: unknown } = { of: first };
    const world = createChoosing(chosen);
    await world.write("c1", "Hello");
    await world.shows("c1", `${kept} 1: Hello`);
    expect(await warningsOf(world)).toEqual([]);
    chosen.of = then;
    await evictDurableObject(world.stub);
    await world.write("c1", "Again");
    await world.shows("c1", `${kept} 1: Hello`, `${kept} 2: Again`);
    const now = then?.name ?? "ScriptedBot";
    expect(await warningsOf(world)).toEqual([
      {
        code: "conversation-class-kept",
        message: expect.stringContaining(`data move <conversation> ${now}`),
      },
    ]);
    await world.write("c2", "New");
    await world.shows("c2", `${now} 1: New`);
    chosen.of = first;
    await world.write("c1", "Back");
    await world.shows("c1", `${kept} 1: Hello`, `${kept} 2: Again`, `${kept} 3: Back`);
    expect(await warningsOf(world)).toEqual([]);
  });

  it.each([
    ["is no agent", Map, "agent-class-invalid"],
    ["has not the messenger", ChildBot, "messenger-unknown"],
  ])("waits and says why if it %s", async (_, of, code) => {
    const log = captureLog();
    const chosen: { of?: unknown } = { of };
    const world = createChoosing(chosen);
    expect(await world.write("c1", "Hello")).toBe(200);
    expect(log).toContainEqual(expect.objectContaining({ event: "conversation.unresolved", code }));
    chosen.of = OtherBot;
    await world.shows("c1", "OtherBot 1: Hello");
  });

  it("is one for messages that arrive at the same time with different classes", async () => {
    const classes = [OtherBot, ScriptedBot, OtherBot, ScriptedBot];
    const world = createChoosing({
      get of() {
        return classes.pop();
      },
    });
    await Promise.all(["a", "b", "c", "d"].map((text) => world.write("c1", text)));
    await expect
      .poll(() => world.requests.flatMap(({ prompt }) => systemOf(prompt)), { timeout: 8000 })
      .not.toEqual([]);
    await expect.poll(() => world.chats.visible("c1").join(" "), { timeout: 8000 }).toContain("d");
    expect(new Set(world.requests.map(({ prompt }) => systemOf(prompt))).size).toBe(1);
  });

  it("gets the presses of its cards, and is reached by bot code", async () => {
    const pressed: string[] = [];
    const world = createChoosing(
      { of: OtherBot },
      {
        settings: {
          onAction: (press) => {
            pressed.push(`${JSON.stringify(press.payload)} of ${press.person?.userId}`);
            return "Thanks!";
          },
        },
      },
    );
    await world.write("c1", "Hello");
    await world.shows("c1", "OtherBot 1: Hello");
    await runInDurableObject(world.stub, async (bot) => {
      const [entry] = bot.listConversations();
      const agent = bot.conversationAgent(OtherBot, entry?.name ?? "");
      const buttons = [[{ kind: "callback", label: "Yes", payload: "yes" }]] as const;
      await (agent as unknown as OtherBot).say({ kind: "card", text: "Sure?", buttons });
      expect(() => bot.conversationAgent(ScriptedBot, entry?.name ?? "")).toThrow(
        expect.objectContaining({ code: "agent-class-invalid" }),
      );
    });
    expect(await world.press("c1", "Yes")).toBe("Thanks!");
    expect(pressed).toEqual(['"yes" of ada']);
  });
});
