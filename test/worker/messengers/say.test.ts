import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ChatTarget } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import type { FakeUpdate } from "../support/fake-platform.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MENTION: Partial<FakeUpdate> = { isGroup: true, mentions: true };

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return "none";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

async function known(world: World, ...chats: readonly string[]): Promise<void> {
  for (const chat of chats) {
    await world.write(chat, "Hello");
    await world.shows(chat, "You said: Hello");
  }
}

const inChat = (chatId: string): ChatTarget => ({ messenger: "fake", chatId });

async function kill(stub: ReturnType<World["child"]>): Promise<void> {
  await runInDurableObject(stub, (_agent, state) => state.abort("killed by a test")).catch(() => {});
}

describe("a file that several conversations send", () => {
  it("is uploaded once for the whole bot", async () => {
    const world = createWorld({
      messengers: (self) => ({
        fake: { ...self.messenger(), platform: fakePlatform(self.chats, { files: true }) },
      }),
    });
    await known(world, "c1", "c2");
    const source = new Uint8Array(100_000).fill(1);
    const poster = { kind: "files", files: [{ kind: "document", source, name: "menu.pdf" }] } as const;
    for (const chat of ["c1", "c2"]) {
      await runInDurableObject(world.thread(chat), (bot) => bot.say(poster));
      await expect.poll(() => world.chats.messages(chat).at(-1)?.files).toEqual(["document menu.pdf"]);
    }
    expect(world.chats.sources).toEqual(["bytes", "platform"]);
  });
});

describe("say at the root", () => {
  it("reaches a chat, and its receipt is the root's own", async () => {
    const world = createWorld();
    await known(world, "c1");
    const id = await world.stub.say("**News**", inChat("c1"));
    await world.shows("c1", "You said: Hello", "News");
    await expect
      .poll(() => world.stub.deliveries.get(id))
      .toMatchObject({
        replyId: id,
        state: "delivered",
        threadId: "fake:c1",
        messages: [{ messageId: "b2" }],
      });
    expect(await world.thread("c1").deliveries.get(id)).toBeUndefined();
  });

  it("reaches a topic", async () => {
    const world = createWorld();
    await world.write("g1", "Hello", MENTION);
    const id = await world.stub.say("To the topic", { messenger: "fake", chatId: "g1", topicId: "4" });
    await world.shows("g1/4", "To the topic");
    expect(await world.stub.deliveries.get(id)).toMatchObject({ threadId: "fake:g1:4" });
  });

  it("reaches a person in the private chat that they have opened", async () => {
    const world = createWorld();
    await world.write("private-of-ada", "Hello", { user: "ada" });
    await world.write("g1", "Hello", { ...MENTION, user: "bob" });
    await world.shows("private-of-ada", "You said: Hello");
    await world.stub.say("For Ada", { messenger: "fake", userId: "ada" });
    await world.shows("private-of-ada", "You said: Hello", "For Ada");
    const toBob = world.stub.say("For Bob", { messenger: "fake", userId: "bob" });
    expect(await codeOf(toBob)).toBe("person-not-reachable");
  });

  it("reaches the chat in which a named conversation was last written to", async () => {
    const world = createWorld({ messenger: { conversation: ({ author }) => author?.userId ?? "" } });
    await known(world, "c1", "c2");
    await world.stub.say("For you", "ada");
    await world.shows("c2", "You said: Hello", "For you");
    const [entry] = await world.stub.listConversations();
    await world.stub.say("Once more", { conversation: entry?.name ?? "" });
    await world.shows("c2", "You said: Hello", "For you", "Once more");
    expect(world.chats.visible("c1")).toEqual(["You said: Hello"]);
  });

  it("reaches a chat that has moved by the id that it had", async () => {
    const world = createWorld();
    await world.write("old", "Hello", MENTION);
    await world.write("old", "", { isGroup: true, kind: "moved", movedTo: "new" });
    world.chats.moved.set("old", "new");
    await world.stub.say("Here I am", inChat("old"));
    await expect.poll(() => world.chats.visible("new")).toContain("Here I am");
  });
});

describe("a target that cannot be written to", () => {
  it.each<[string, ChatTarget | undefined, string]>([
    ["a chat that was never seen", inChat("nowhere"), "chat-unknown"],
    ["a conversation that nobody has written to", "nobody", "chat-unknown"],
    ["a person who has opened no private chat", { messenger: "fake", userId: "eve" }, "person-not-reachable"],
    ["a messenger that is not declared", { messenger: "other", chatId: "c1" }, "messenger-unknown"],
    ["a name that no conversation has", { conversation: "c1" }, "target-invalid"],
    ["something else", { chat: "c1" } as never, "target-invalid"],
    ["nothing", undefined, "target-missing"],
  ])("is an error with a code: %s", async (_name, to, code) => {
    expect(await codeOf(createWorld().stub.say("Hello", to))).toBe(code);
  });

  it("is gone after a refused call, and back when the person is", async () => {
    captureLog();
    const world = createWorld();
    await known(world, "c1");
    world.chats.gone.add("c1");
    const id = await world.stub.say("Lost", inChat("c1"));
    await expect
      .poll(() => world.stub.deliveries.get(id))
      .toMatchObject({ state: "gone", code: "bot-blocked" });
    await expect.poll(() => codeOf(world.stub.say("Lost", inChat("c1")))).toBe("chat-gone");
    expect(await codeOf(world.stub.say("Lost", { messenger: "fake", userId: "ada" }))).toBe(
      "person-not-reachable",
    );
    world.chats.gone.delete("c1");
    await world.write("c1", "I am back");
    await world.stub.say("Welcome back", inChat("c1"));
    await expect.poll(() => world.chats.visible("c1")).toContain("Welcome back");
    expect(world.chats.visible("c1")).not.toContain("Lost");
  });

  it("tells apart that a person has not written for too long, until they write", async () => {
    captureLog();
    const world = createWorld();
    await known(world, "c1");
    world.chats.goneCode = "window-closed";
    world.chats.gone.add("c1");
    const id = await world.stub.say("Lost", inChat("c1"));
    await expect
      .poll(() => world.stub.deliveries.get(id))
      .toMatchObject({ state: "gone", code: "window-closed" });
    await expect.poll(() => codeOf(world.stub.say("Lost", inChat("c1")))).toBe("window-closed");
    expect(await codeOf(world.stub.say("Lost", { messenger: "fake", userId: "ada" }))).toBe("window-closed");
    world.chats.gone.delete("c1");
    await world.write("c1", "I am back");
    await world.stub.say("Welcome back", { messenger: "fake", userId: "ada" });
    await expect.poll(() => world.chats.visible("c1")).toContain("Welcome back");
  });

  it("is written to although its window is closed, if the platform has a form for that", async () => {
    captureLog();
    const world = createWorld();
    await known(world, "c1");
    world.chats.goneCode = "window-closed";
    world.chats.gone.add("c1");
    await world.stub.say("Lost", inChat("c1"));
    await expect.poll(() => codeOf(world.stub.say("Lost", inChat("c1")))).toBe("window-closed");
    world.chats.opensWindows = true;
    world.chats.gone.delete("c1");
    await world.stub.say("As a template", { messenger: "fake", userId: "ada" });
    await expect.poll(() => world.chats.visible("c1")).toContain("As a template");
  });

  it("takes no empty text, and no odd key", async () => {
    const world = createWorld();
    await known(world, "c1");
    expect(await codeOf(world.stub.say(" ", inChat("c1")))).toBe("content-invalid");
    const key = "k".repeat(201);
    expect(await codeOf(world.stub.say("x", inChat("c1"), { idempotencyKey: key }))).toBe(
      "idempotency-key-invalid",
    );
  });
});

describe("say in a conversation", () => {
  it("reaches its own chat outside of a turn", async () => {
    const world = createWorld();
    await world.write("g1", "Hello", { ...MENTION, topic: "4" });
    await world.shows("g1/4", "You said: ada: Hello");
    const topic = world.child("thread:fake:fake%3Ag1%3A4");
    await topic.say("By the way");
    await world.shows("g1/4", "You said: ada: Hello", "By the way");
    expect(await codeOf(world.thread("c9").say("Hello"))).toBe("chat-unknown");
  });

  it("reaches the chat of the running turn, also where many share the conversation", async () => {
    const world = createWorld({
      messenger: { conversation: () => "everybody" },
      getTools: (agent) => ({
        tell: tool({ inputSchema: z.object({}), execute: () => agent.say("From the tool.") }),
      }),
      script: ({ prompt, said }) =>
        said === "tell" && prompt.at(-1)?.role !== "tool" ? [callTool("tell")] : [say(`You said: ${said}`)],
    });
    await known(world, "c1", "c2");
    await world.write("c1", "tell");
    await expect
      .poll(() => world.chats.visible("c1").toSorted())
      .toEqual(["From the tool.", "You said: Hello", "You said: tell"]);
    expect(world.chats.visible("c2")).toEqual(["You said: Hello"]);
  });

  it("reaches another chat from its own outbox", async () => {
    const world = createWorld();
    await known(world, "c1", "c2");
    const id = await world.thread("c1").say("Ada wrote", inChat("c2"));
    await world.shows("c2", "You said: Hello", "Ada wrote");
    await expect
      .poll(() => world.thread("c1").deliveries.get(id))
      .toMatchObject({ state: "delivered", threadId: "fake:c2" });
    expect(await world.thread("c2").deliveries.get(id)).toBeUndefined();
  });
});

describe("an idempotency key", () => {
  it("sends once and gives the same id, also after a crash and when the chat is gone by then", async () => {
    captureLog();
    const world = createWorld();
    await known(world, "c1");
    const once = () => world.stub.say("Once", inChat("c1"), { idempotencyKey: "order-1" });
    const ids = await Promise.all([once(), once()]);
    await kill(world.stub);
    await runDurableObjectAlarm(world.stub);
    ids.push(await once());
    await world.shows("c1", "You said: Hello", "Once");
    await evictDurableObject(world.stub);
    world.chats.gone.add("c1");
    await world.write("c1", "", { kind: "member", leaves: true });
    ids.push(await once());
    expect(new Set(ids).size).toBe(1);
    expect(world.chats.visible("c1")).toEqual(["You said: Hello", "Once"]);
    expect(await world.stub.say("Twice", "ada", { idempotencyKey: "order-1" }), "the key decides").toBe(
      ids[0],
    );
  });

  it("is kept apart from another one, and from none", async () => {
    const world = createWorld();
    await known(world, "c1");
    const ids = [];
    for (const options of [{ idempotencyKey: "a" }, { idempotencyKey: "b" }, {}, {}])
      ids.push(await world.stub.say("Hi", inChat("c1"), options));
    expect(new Set(ids).size).toBe(4);
    await world.shows("c1", "You said: Hello", "Hi", "Hi", "Hi", "Hi");
  });
});
