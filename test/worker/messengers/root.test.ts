import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { fakePlatform, SECRET, SECRET_HEADER } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import { say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const WEBHOOK = "/messengers/fake/webhook";
const headers = { [SECRET_HEADER]: SECRET };

describe("the root's routes", () => {
  it("gives a webhook to its messenger, and everything else to onRequest", async () => {
    const world = createWorld({
      onRequest: (request) => new Response(`mine: ${new URL(request.url).pathname}`),
    });
    expect(await (await world.fetch("/hello")).text()).toBe("mine: /hello");
    expect(await (await world.fetch(`${WEBHOOK}/more`, { method: "POST", headers })).text()).toBe(
      `mine: ${WEBHOOK}/more`,
    );
    expect((await world.fetch(WEBHOOK)).status).toBe(405);
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
  });

  it("answers 500 when onRequest throws, and tells nobody why (I10)", async () => {
    const log = captureLog();
    const world = createWorld({
      onRequest: () => {
        throw new TypeError("the person wrote psst");
      },
    });
    for (const object of [world.stub, world.thread("c1")]) {
      const response = await object.fetch("https://bot.example/page");
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ error: { code: "internal-error" } });
    }
    const line = expect.objectContaining({ event: "bot.failed", method: "onRequest", code: "TypeError" });
    expect(log).toEqual([line, line]);
    expect(JSON.stringify(log)).not.toContain("psst");
  });

  it("answers 404 where nobody is responsible", async () => {
    expect((await createWorld().fetch("/nothing/here")).status).toBe(404);
  });

  it("serves a webhook at the root only, never at a conversation", async () => {
    const world = createWorld();
    const response = await world.thread("c1").fetch(`https://bot.example${WEBHOOK}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ id: "1", chat: "c1", user: "ada", text: "Hello" }),
    });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe("Not found");
  });

  it("serves a messenger at the path that it names", async () => {
    const world = createWorld({ messenger: { path: "/hooks/one" } });
    expect(await world.post({ id: "1", chat: "c1", user: "ada", text: "Hello" }, "/hooks/one")).toBe(200);
    expect(await world.post({ id: "2", chat: "c1", user: "ada", text: "Hello" })).toBe(404);
    await world.shows("c1", "You said: Hello");
  });
});

describe("what the root refuses", () => {
  it("answers another method than POST with 405 and the one that is allowed", async () => {
    const response = await createWorld().fetch(WEBHOOK, { method: "PUT", headers, body: "{}" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });

  it.each([
    ["no secret", {}],
    ["a wrong secret", { [SECRET_HEADER]: "guess" }],
  ])("answers %s with 401 and stores nothing", async (_name, wrong) => {
    const world = createWorld();
    const body = JSON.stringify({ id: "1", chat: "c1", user: "ada", text: "Hello" });
    const response = await world.fetch(WEBHOOK, { method: "POST", headers: wrong, body });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "unauthorized" } });
    expect(await world.stub.listConversations()).toEqual([]);
  });

  it("asks a function of the bot's own who may post, and gives its answer", async () => {
    const world = createWorld({
      messenger: {
        verifyWebhook: async (request) =>
          (await request.text()).includes("teapot")
            ? new Response("short and stout", { status: 418 })
            : false,
      },
    });
    expect(await world.post({ id: "1", chat: "c1", user: "ada", text: "teapot" })).toBe(418);
    expect(await world.post({ id: "2", chat: "c1", user: "ada", text: "coffee" })).toBe(401);
  });

  it("answers 503 when that function throws, and tells nobody why (I10)", async () => {
    const log = captureLog();
    const world = createWorld({
      messenger: {
        verifyWebhook: () => {
          throw new TypeError("the key is hunter2");
        },
      },
    });
    const response = await world.fetch(WEBHOOK, { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("hunter2");
    expect(log).toContainEqual(expect.objectContaining({ event: "webhook.failed", code: "TypeError" }));
    expect(JSON.stringify(log)).not.toContain("hunter2");
  });

  it("answers a body over 1 MiB with 413, whether or not it says its length", async () => {
    const world = createWorld();
    const body = new Uint8Array(1024 * 1024 + 1);
    expect((await world.fetch(WEBHOOK, { method: "POST", headers, body })).status).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 17; part += 1) controller.enqueue(new Uint8Array(64 * 1024));
        controller.close();
      },
    });
    expect((await world.fetch(WEBHOOK, { method: "POST", headers, body: stream })).status).toBe(413);
    expect((await world.fetch(WEBHOOK, { method: "POST", headers: {}, body })).status).toBe(401);
  });

  it("counts updates of a kind that is not handled, by messenger and kind", async () => {
    const world = createWorld();
    expect(await world.post({ kind: "poll", id: "1", chat: "c1", user: "ada" })).toBe(200);
    expect(await world.post({ kind: "poll", id: "2", chat: "c1", user: "ada" })).toBe(200);
    expect(await world.stub.ignoredUpdates()).toEqual({ "fake:poll": 2 });
    expect(await world.stub.listConversations()).toEqual([]);
  });
});

describe("messengers that are declared wrongly", () => {
  it("fail every request, and the log says how to put them right", async () => {
    const log = captureLog();
    const world = createWorld({ messenger: { path: "no-slash" } });
    const response = await world.fetch(WEBHOOK, { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("no-slash");
    const line = log.find(({ event }) => event === "bot.failed");
    expect(line).toMatchObject({ method: "getMessengers", code: "messenger-path-invalid" });
    expect(line?.message).toContain('must begin with "/", for example "/no-slash"');
  });

  it("work as soon as the declaration is right, and nothing that was refused is lost (I1)", async () => {
    captureLog();
    let isBroken = true;
    const world = createWorld({
      messengers: (self) => {
        if (isBroken) throw new Error("a secret is not bound yet");
        return { fake: self.messenger() };
      },
    });
    const update = { id: "1", chat: "c1", user: "ada", text: "Hello" };
    expect(await world.post(update)).toBe(500);
    isBroken = false;
    expect(await world.post(update)).toBe(200);
    await world.shows("c1", "You said: Hello");
  });
});

describe("an event that cannot be stored", () => {
  it("is answered 503, and its redelivery works (I1)", async () => {
    const log = captureLog();
    const world = createWorld();
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    const rename = (from: string, to: string) =>
      runInDurableObject(world.thread("c1"), (_bot, { storage }) => {
        storage.sql.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
      });
    await rename("inbox_v1", "inbox_away");
    const update = { id: "lost", chat: "c1", user: "ada", text: "Are you there?" };
    expect(await world.post(update)).toBe(503);
    expect(await world.post(update)).toBe(503);
    expect(log.filter(({ event }) => event.startsWith("webhook"))).toHaveLength(2);
    expect(JSON.stringify(log)).not.toContain("Are you there?");
    await rename("inbox_away", "inbox_v1");
    expect(await world.post(update)).toBe(200);
    await world.shows("c1", "You said: Hello", "You said: Are you there?");
  });
});

describe("an event whose conversation cannot be told", () => {
  /** The object of the thread, where such an event waits, restarts and tries again at once. */
  const tryAgain = async (world: World, chat: string) => {
    await evictDurableObject(world.thread(chat));
    await runDurableObjectAlarm(world.thread(chat));
  };

  it("is stored, answered 200, and answered to by its conversation when the resolver works again (I1)", async () => {
    const log = captureLog();
    let isBroken = true;
    const world = createWorld({
      messenger: {
        conversation: () => {
          if (isBroken) throw new TypeError("the person wrote psst");
          return { target: "subagent", name: "ada" };
        },
      },
    });
    expect(await world.write("c1", "psst")).toBe(200);
    expect(log).toContainEqual(
      expect.objectContaining({
        event: "conversation.unresolved",
        messenger: "fake",
        key: "message:c1:m1",
        thread: "fake:c1",
        code: "TypeError",
        at: expect.stringContaining("at ") as unknown,
      }),
    );
    expect(JSON.stringify(log)).not.toContain("the person wrote");
    isBroken = false;
    await tryAgain(world, "c1");
    await world.shows("c1", "You said: psst");
    expect(world.requests.map(({ asker }) => asker)).toEqual([`${world.root}/named:ada`]);
    expect((await world.stub.listConversations()).map(({ name }) => name)).toEqual(["named:ada"]);
  });

  it("holds up no other event of its request, and is answered once when the request comes again (I2)", async () => {
    captureLog();
    let isBroken = true;
    const world = createWorld({
      messenger: {
        conversation: ({ thread }) => {
          const name = thread.chatId === "c2" && isBroken ? "" : thread.chatId.toUpperCase();
          return { target: "subagent", name };
        },
      },
    });
    const updates = ["c1", "c2", "c3"].map((chat) => ({ id: "1", chat, user: "ada", text: "Hello" }));
    expect(await world.post(updates)).toBe(200);
    for (const chat of ["c1", "c3"]) await world.shows(chat, "You said: Hello");
    isBroken = false;
    expect(await world.post(updates)).toBe(200);
    await tryAgain(world, "c2");
    for (const chat of ["c1", "c2", "c3"]) await world.shows(chat, "You said: Hello");
    expect(world.requests).toHaveLength(3);
  });

  it.each(["", "a\u0000b", "x".repeat(513)])(
    "waits when the resolver returns a name that cannot be used",
    async (name) => {
      const log = captureLog();
      const world = createWorld({ messenger: { conversation: () => ({ target: "subagent", name }) } });
      expect(await world.post({ id: "1", chat: "c1", user: "ada", text: "Hello" })).toBe(200);
      expect(log).toContainEqual(
        expect.objectContaining({
          event: "conversation.unresolved",
          code: "conversation-name-invalid",
          message: expect.stringContaining("conversation()") as unknown,
        }),
      );
    },
  );
});

describe("which conversation answers", () => {
  it("gives each thread a memory of its own (I11)", async () => {
    const world = createWorld({ script: ({ prompt }) => [say(`${prompt.length - 1} messages`)] });
    await world.write("c1", "one");
    await world.write("c2", "two");
    await world.shows("c1", "1 messages");
    await world.shows("c2", "1 messages");
    await world.write("c1", "three");
    await world.shows("c1", "1 messages", "3 messages");
    const asked = world.requests.map(({ asker, prompt }) => [asker, JSON.stringify(prompt).includes("two")]);
    expect(asked.filter(([, hasTwo]) => hasTwo)).toEqual([[`${world.root}/thread:fake:fake%3Ac2`, true]]);
  });

  it('answers every thread from one memory with conversation: "self"', async () => {
    const world = createWorld({
      messenger: { conversation: "self" },
      script: ({ prompt }) => [say(`${prompt.length - 1} messages`)],
    });
    await world.write("c1", "one");
    await world.shows("c1", "1 messages");
    await world.write("c2", "two");
    await world.shows("c2", "3 messages");
    expect(new Set(world.requests.map(({ asker }) => asker))).toEqual(new Set([world.root]));
  });

  it("shares the memory of a name that a resolver gives to two threads, and answers each in its own", async () => {
    const world = createWorld({
      messenger: {
        conversation: ({ author }) => ({ target: "subagent", name: `customer/${author?.userId ?? ""}` }),
      },
      script: ({ prompt, said }) => [say(`${said}: ${prompt.length - 1} messages`)],
    });
    await world.write("c1", "one");
    await world.shows("c1", "one: 1 messages");
    await world.write("c2", "two");
    await world.shows("c2", "two: 3 messages");
    await world.write("c3", "three", { user: "bob" });
    await world.shows("c3", "three: 1 messages");
    expect(new Set(world.requests.map(({ asker }) => asker))).toEqual(
      new Set([`${world.root}/named:customer%2Fada`, `${world.root}/named:customer%2Fbob`]),
    );
  });

  it("lets a resolver send some events to the root itself", async () => {
    const world = createWorld({
      messenger: {
        conversation: ({ thread }) =>
          thread.chatId === "lobby" ? { target: "self" } : { target: "subagent", name: thread.chatId },
      },
    });
    await world.write("lobby", "Hello");
    await world.write("c1", "Hello");
    await world.shows("lobby", "You said: Hello");
    await world.shows("c1", "You said: Hello");
    expect(world.requests.map(({ asker }) => asker).sort()).toEqual([world.root, `${world.root}/named:c1`]);
  });

  it("keeps two messengers of one bot apart, also in a chat of the same name (I11)", async () => {
    const world = createWorld({
      messengers: (self) => ({
        one: self.messenger({ adapterName: "one" }),
        two: { ...self.messenger({ adapterName: "two" }), platform: fakePlatform(self.chats) },
      }),
      script: ({ asker, prompt }) => [say(`${asker.split(":")[1] ?? ""}: ${prompt.length - 1}`)],
    });
    const update = { id: "1", chat: "c1", user: "ada", text: "Hello" };
    expect(await world.post(update, "/messengers/one/webhook")).toBe(200);
    await world.shows("c1", "one: 1");
    expect(await world.post(update, "/messengers/two/webhook")).toBe(200);
    await world.shows("c1", "one: 1", "two: 1");
    expect(await world.post(update, "/messengers/fake/webhook")).toBe(404);
  });

  it("lists conversations, the newest first", async () => {
    const world = createWorld();
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    await world.write("c2", "Hello");
    await world.shows("c2", "You said: Hello");
    const entries = await world.stub.listConversations();
    expect(entries.map(({ name }) => name).sort()).toEqual([
      "thread:fake:fake%3Ac1",
      "thread:fake:fake%3Ac2",
    ]);
    expect(entries[0]?.lastActiveAt).toBeGreaterThanOrEqual(entries[1]?.lastActiveAt ?? Infinity);
    expect(entries).toContainEqual(
      expect.objectContaining({ messengerId: "fake", threadId: "fake:c1", title: "c1" }),
    );
    expect(await world.stub.listConversations(1)).toHaveLength(1);
  });
});
