import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { MessengerEvent } from "../../../src/messengers/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { holdAt, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import type { FakeUpdate } from "../support/fake-platform.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

const askersOf = (world: World) => new Set(world.requests.map(({ asker }) => asker));

/** A bot with a conversation for each person, and the events that its function was called for. */
function createByPerson(options: WorldOptions = {}): { world: World; asked: MessengerEvent[] } {
  const asked: MessengerEvent[] = [];
  const world = createWorld({
    ...options,
    messenger: {
      channelSpeakerLabel: false,
      ...options.messenger,
      conversation: (event) => {
        asked.push(event);
        return event.message?.author?.userId ?? event.author?.userId ?? "";
      },
    },
  });
  return { world, asked };
}

describe("a name that a conversation function returns", () => {
  it("is that of one agent, which subAgent() reaches by the same name", async () => {
    const { world } = createByPerson({
      onRequest: async (_request, agent) => {
        const child = await agent.subAgent(agent.constructor as never, "ada");
        return new Response(await (child as unknown as { name: Promise<string> }).name);
      },
      script: ({ prompt }) => [say(`${prompt.length - 1}`)],
    });
    await world.write("c1", "one");
    await world.shows("c1", "1");
    await world.write("c2", "two");
    await world.shows("c2", "3");
    const object = await (await world.fetch("/object")).text();
    expect(askersOf(world)).toEqual(new Set([object]));
    expect(object).toBe(`${world.root}/named:ada`);
  });

  it.each(["self", "thread"])('may be "%s", which means nothing else', async (name) => {
    const world = createWorld({ messenger: { conversation: () => name } });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    expect(askersOf(world)).toEqual(new Set([`${world.root}/named:${name}`]));
  });

  it("is refused if no object can have it, and the webhook is answered all the same", async () => {
    const log = captureLog();
    // Cyrillic, in UTF-8 and percent-encoded: an object's name has at most 1,024 bytes.
    const world = createWorld({ messenger: { conversation: () => "\u044f".repeat(250) } });
    expect(await world.write("c1", "Hello")).toBe(200);
    expect(log).toContainEqual(
      expect.objectContaining({ event: "conversation.unresolved", code: "conversation-name-invalid" }),
    );
  });

  it("never reaches the object of a thread, nor does that of subAgent() (I11)", async () => {
    const ofThread = "thread:fake:fake%3Ac1";
    const world = createWorld({
      onRequest: async (_request, agent) => {
        const child = await agent.subAgent(agent.constructor as never, ofThread);
        return new Response(await (child as unknown as { name: Promise<string> }).name);
      },
      script: ({ prompt }) => [say(`${prompt.length - 1}`)],
    });
    await world.write("c1", "one");
    await world.shows("c1", "1");
    expect(askersOf(world)).toEqual(new Set([`${world.root}/${ofThread}`]));
    const other = createWorld({ messenger: { conversation: () => ofThread } });
    await other.write("c1", "one");
    await other.shows("c1", "You said: one");
    const named = `named:${encodeURIComponent(ofThread)}`;
    expect(askersOf(other)).toEqual(new Set([`${other.root}/${named}`]));
    expect(await (await world.fetch("/object")).text()).toBe(`${world.root}/${named}`);
  });
});

describe("conversationAgent", () => {
  it("reaches the agents that listConversations() names, and nothing else", async () => {
    const world = createWorld({
      messenger: {
        conversation: ({ thread }) => (thread.chatId === "lobby" ? { target: "self" } : thread.chatId),
      },
      onRequest: async (request, agent) => {
        const { searchParams } = new URL(request.url);
        try {
          const name = searchParams.get("name") ?? "";
          const found = agent.conversationAgent(agent.constructor as never, name);
          return new Response(await (found as unknown as { name: Promise<string> }).name);
        } catch (error) {
          return new Response(String((error as { code?: unknown }).code));
        }
      },
    });
    await world.write("lobby", "Hello");
    await world.write("c 1", "Hello");
    await world.shows("c 1", "You said: Hello");
    await world.shows("lobby", "You said: Hello");
    const listed = (await world.stub.listConversations()).map(({ name }) => name);
    const reach = async (name: string) => (await world.fetch(`/?name=${encodeURIComponent(name)}`)).text();
    expect(new Set(await Promise.all(listed.map(reach)))).toEqual(askersOf(world));
    expect(await reach("c 1")).toBe("conversation-name-invalid");
  });
});

describe("the event that a conversation function gets", () => {
  it("is as toEvent made it, with the message's author", async () => {
    const { asked, world } = createByPerson({
      messenger: {
        toEvent: ({ event }) => ({
          ...event,
          author: { userId: "staff" },
          ...(event.message && { message: { ...event.message, author: { userId: "staff" } } }),
        }),
      },
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    expect(askersOf(world)).toEqual(new Set([`${world.root}/named:staff`]));
    expect(asked.map(({ author, message }) => [author?.userId, message?.author?.userId])).toEqual([
      ["staff", "staff"],
    ]);
  });

  it("waits when toEvent throws, and is answered when it works again (I1)", async () => {
    const log = captureLog();
    let isBroken = true;
    const { world } = createByPerson({
      messenger: {
        toEvent: ({ event }) => {
          if (isBroken) throw new TypeError("the person wrote psst");
          return event;
        },
      },
    });
    expect(await world.write("c1", "psst")).toBe(200);
    expect(log).toContainEqual(
      expect.objectContaining({ event: "conversation.unresolved", code: "TypeError" }),
    );
    isBroken = false;
    await evictDurableObject(world.thread("c1"));
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "You said: psst");
    expect(askersOf(world)).toEqual(new Set([`${world.root}/named:ada`]));
  });
});

describe("the events that a conversation function is called for", () => {
  const inGroup: Partial<FakeUpdate> = { isGroup: true };

  it("are those that may be answered", async () => {
    captureLog();
    const { asked, world } = createByPerson();
    await world.write("g1", "to others", inGroup);
    await world.write("g1", "/unknown", inGroup);
    await world.write("g1", "an edit", { ...inGroup, kind: "edit" });
    await world.write("g1", "joined", { ...inGroup, kind: "member" });
    await world.write("g1", "moved", { ...inGroup, kind: "moved", movedTo: "g2" });
    await world.write("g1", "press", { ...inGroup, kind: "press" });
    await world.write("g1", "gone", { ...inGroup, kind: "delete" });
    expect(asked).toEqual([]);
    await world.write("g1", "@bot hello", { ...inGroup, mentions: true });
    await world.write("g1", "/help", inGroup);
    await world.write("c1", "directly");
    expect(asked.map(({ message }) => message?.text)).toEqual(["@bot hello", "/help", "directly"]);
    await world.shows("c1", "You said: directly");
  });

  it("include presses and the whole of a group where respondTo does", async () => {
    const { asked, world } = createByPerson({ messenger: { respondTo: ["action", "subscribed-thread"] } });
    await world.write("g1", "to others", inGroup);
    await world.write("g1", "yes", { ...inGroup, kind: "press" });
    await world.shows("g1", "You said: [Button pressed: yes]");
    expect(asked.map(({ kind }) => kind)).toEqual(["message", "action"]);
  });

  it("leave out a press that starts nothing, which is acknowledged all the same", async () => {
    const { asked, world } = createByPerson();
    await world.write("g1", "yes", { ...inGroup, kind: "press", id: "p1" });
    expect(asked).toEqual([]);
    await expect.poll(() => world.chats.answered).toEqual(["p1"]);
  });

  it("leave out an edit and a deletion of a message whose conversation is known, and both take effect", async () => {
    const gate = createGate();
    const { asked, world } = createByPerson({
      script: ({ said }) => (said === "one" ? [holdAt(gate), say("One.")] : [say(`You said: ${said}`)]),
    });
    const mention = { ...inGroup, mentions: true };
    await world.write("g1", "one", mention);
    await untilReached(gate);
    await world.write("g1", "two", { ...mention, id: "2" });
    await world.write("g1", "three", { ...mention, id: "3" });
    await world.write("g1", "second", { ...inGroup, kind: "edit", id: "2" });
    await world.write("g1", "", { ...inGroup, kind: "delete", id: "3" });
    gate.open();
    await world.shows("g1", "One.", "You said: second");
    expect(asked.map(({ message }) => message?.text)).toEqual(["one", "two", "three"]);
    expect((await world.stub.listConversations()).map(({ name }) => name)).toEqual(["named:ada"]);
  });
});
