import { runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ActionContext, ThinkActions } from "../../../src/index.ts";
import type { ScriptedBot } from "../worker.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const inputSchema = z.object({});
const schema = z.object({ count: z.number() });

async function kill(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
  await runInDurableObject(stub, (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
}

/** The model calls the tool whose name the person writes, and says what that returned. */
function createCaller(getActions: () => ThinkActions): World {
  return createWorld({
    getActions,
    script: ({ prompt, said }) => {
      const last = prompt.at(-1);
      if (last?.role !== "tool") return [callTool(said)];
      const [result] = last.content;
      return [say(JSON.stringify(result?.type === "tool-result" ? result.output : "none"))];
    },
  });
}

async function answerTo(world: World, chat: string, text: string, user = "ada"): Promise<string> {
  const before = world.chats.visible(chat).length;
  await world.write(chat, text, { user });
  await expect.poll(() => world.chats.visible(chat).length, { timeout: 8000 }).toBe(before + 1);
  await expect.poll(() => world.chats.visible(chat).at(-1), { timeout: 8000 }).toContain("}");
  return world.chats.visible(chat).at(-1) ?? "";
}

it("keeps values for a conversation, a person and the bot, through the death of their objects", async () => {
  const counter = (scope: "conversation" | "person" | "bot") =>
    action({
      description: `Count for the ${scope}.`,
      inputSchema,
      memory: { schema, scope },
      execute: async (_input, { memory }) => memory.update((before) => ({ count: (before?.count ?? 0) + 1 })),
    });
  const world = createCaller(() => ({
    mine: counter("conversation"),
    hers: counter("person"),
    ours: counter("bot"),
  }));
  for (const name of ["mine", "hers", "ours"])
    expect(await answerTo(world, "c1", name)).toContain('"count":1');
  await kill(world.thread("c1"));
  await kill(world.stub);
  expect(await answerTo(world, "c1", "mine")).toContain('"count":2');
  expect(await answerTo(world, "c2", "mine", "eve")).toContain('"count":1');
  expect(await answerTo(world, "c2", "hers", "eve")).toContain('"count":1');
  expect(await answerTo(world, "c3", "hers")).toContain('"count":2');
  expect(await answerTo(world, "c2", "ours", "eve")).toContain('"count":2');
});

it("reads an older value with the new bot's migrate", async () => {
  let version = 1;
  const world = createCaller(() => ({
    count: action({
      description: "Count.",
      inputSchema,
      memory: {
        schema: version === 1 ? z.number() : schema,
        version,
        migrate: ({ value }) => ({ count: Number(value) }),
      },
      execute: async (_input, { memory }) => {
        const before = await memory.get();
        if (version === 1) await memory.set(7);
        return before ?? { none: true };
      },
    }),
  }));
  expect(await answerTo(world, "c1", "count")).toContain('"none":true');
  version = 2;
  await kill(world.thread("c1"));
  expect(await answerTo(world, "c1", "count")).toContain('"count":7');
});

it("offers an action in its context only, also after a restart, and refuses it elsewhere", async () => {
  const begin = (_input: unknown, ctx: ActionContext): object => {
    ctx.activateContext("checkout");
    return { begun: true };
  };
  const end = (_input: unknown, ctx: ActionContext): object => {
    ctx.deactivateContext("checkout");
    return { ended: true };
  };
  const world = createCaller(() => ({
    begin: action({ description: "Begin.", inputSchema, execute: begin }),
    end: action({ description: "End.", inputSchema, contexts: ["checkout"], execute: end }),
  }));
  await answerTo(world, "c1", "begin");
  expect(world.requests.at(-1)?.tools).toEqual(["begin", "end"]);
  await kill(world.thread("c1"));
  expect(await answerTo(world, "c1", "end")).toContain('"ended":true');
  expect(world.requests.at(-1)?.tools).toEqual(["begin"]);
  // Another conversation has its own contexts.
  await answerTo(world, "c2", "begin");
  expect(world.requests.find(({ said }) => said === "begin")?.tools).toEqual(["begin"]);
  await runInDurableObject(world.thread("c1"), (bot: ScriptedBot) => bot.activateContext("checkout"));
  expect(await answerTo(world, "c1", "end")).toContain('"ended":true');
});
