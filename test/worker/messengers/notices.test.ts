import { runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

async function known(world: World, ...chats: readonly string[]): Promise<void> {
  for (const chat of chats) {
    await world.write(chat, "Hello");
    await world.shows(chat, "You said: Hello");
  }
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return "none";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

it("reaches a chat from the root and from another conversation, once, and its model knows it", async () => {
  const world = createWorld();
  await known(world, "c1", "c2");
  const options = { channel: "fake", thread: "c1", kind: "export", idempotencyKey: "e1" };
  const id = await world.stub.deliverNotice("Your export is ready.", options);
  expect(await world.thread("c2").deliverNotice("Your export is ready.", options)).toBe(id);
  await world.shows("c1", "You said: Hello", "Your export is ready.");
  await world.write("c1", "Where is it?");
  await expect.poll(() => world.chats.visible("c1").length).toBe(3);
  const asked = JSON.stringify(world.requests.at(-1));
  expect(asked).toContain("Your export is ready.");
  expect(asked).toContain("⟦Kind: export⟧");
  expect((await world.stub.broadcasts.receipts(id)).receipts).toMatchObject([{ state: "sent" }]);
});

it("goes to the chat of the turn in which it is called, and leaves the model alone if asked to", async () => {
  const world = createWorld({
    script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Done.")] : [callTool("notify", {})]),
    getTools: (agent) => ({
      notify: tool({
        description: "Notify.",
        inputSchema: z.object({}),
        execute: () => agent.deliverNotice("By the way", { informModel: false }),
      }),
    }),
  });
  await world.write("c1", "Hello");
  await expect.poll(() => world.chats.visible("c1").toSorted()).toEqual(["By the way", "Done."]);
  await world.write("c1", "And?");
  await expect.poll(() => world.requests.length).toBeGreaterThanOrEqual(4);
  expect(JSON.stringify(world.requests.at(-1))).not.toContain("You posted this");
});

it("says what is wrong with its channel, its thread or its kind", async () => {
  const world = createWorld();
  await known(world, "c1");
  const notify = (options: object): Promise<unknown> => codeOf(world.stub.deliverNotice("Hi", options));
  expect(await notify({ channel: "slack", thread: "c1" })).toBe("channel-unknown");
  expect(await notify({ channel: "fake", thread: "c9" })).toBe("thread-unknown");
  expect(await notify({ channel: "fake" })).toBe("notice-invalid");
  expect(await notify({ channel: "fake", thread: "c1", kind: "a\nb" })).toBe("notice-invalid");
  expect(await notify({})).toBe("target-missing");
  await runInDurableObject(world.thread("c1"), async (bot) => bot.deliverNotice("Here"));
  await world.shows("c1", "You said: Hello", "Here");
});

it("refuses a misspelt option, because an ignored key would send everything twice", async () => {
  const world = createWorld();
  await known(world, "c1");
  // As JavaScript, or options from somewhere else, pass them.
  const misspelt = (name: string): object => ({ [name]: "e1" });
  const { stub } = world;
  const refused = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "none",
      (error: unknown) => [(error as { readonly code?: unknown }).code, (error as Error).message],
    );
  expect(await refused(stub.broadcasts.send("Hi", "subscribers", misspelt("idempotencykey")))).toEqual([
    "broadcast-invalid",
    'The broadcast cannot be sent: idempotencykey of broadcasts.send does not exist. Did you mean "idempotencyKey"?',
  ]);
  const to = { messenger: "fake", chatId: "c1" };
  expect(await refused(stub.say("Hi", to, misspelt("idempotency")))).toEqual([
    "say-option-invalid",
    'The message cannot be sent: idempotency of say does not exist. Did you mean "idempotencyKey"?',
  ]);
  const notice = { channel: "fake", thread: "c1", ...misspelt("key") };
  expect(await refused(stub.deliverNotice("Hi", notice))).toEqual([
    "notice-invalid",
    "The notice cannot be sent: key of broadcasts.notify does not exist. Use any of: channel, thread, kind, informModel, idempotencyKey.",
  ]);
  expect(world.chats.visible("c1")).toEqual(["You said: Hello"]);
});
