import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { getTurn } from "../../../src/index.ts";
import type { FakeUpdate } from "../support/fake-platform.ts";
import { callTool, holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { RootRuntime } from "../../../src/messengers/root/root-runtime.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { untilReached } from "../support/until-reached.ts";

const IN_GROUP = { isGroup: true, mentions: true } as const;
/** Says how many messages of the conversation the model was shown. */
const counting: ModelScript = ({ prompt, said }) => [say(`${said}: ${prompt.length - 1}`)];

function createGroup(options: WorldOptions = {}): World {
  return createWorld({
    script: counting,
    ...options,
    messenger: { channelSpeakerLabel: false, ...options.messenger },
  });
}

const write = (world: World, chat: string, text: string, more: Partial<FakeUpdate> = {}) =>
  world.write(chat, text, { ...IN_GROUP, ...more });

/** What the platform says of a group that was upgraded, in the old chat and in the new one. */
const toNew: FakeUpdate = {
  kind: "moved",
  id: "s1",
  chat: "old",
  user: "ada",
  isGroup: true,
  movedTo: "new",
};
const fromOld: FakeUpdate = {
  kind: "moved",
  id: "s1",
  chat: "new",
  user: "ada",
  isGroup: true,
  movedFrom: "old",
};

async function kill(stub: ReturnType<World["child"]>): Promise<void> {
  await runInDurableObject(stub, (_agent, state) => state.abort("killed by a test")).catch(() => {});
}

describe("a group that goes on under another id", () => {
  it.each([
    ["both sides say so", [toNew, fromOld]],
    ["the new one says so first", [fromOld, toNew]],
    ["only the old one says so", [toNew]],
    ["only the new one says so", [fromOld]],
    ["it is said twice", [toNew, toNew, fromOld, fromOld]],
  ])("keeps its memory, and its subscription, when %s", async (_name, updates) => {
    const world = createGroup({ messenger: { respondTo: ["mention", "subscribed-thread"] } });
    await write(world, "old", "one");
    await world.shows("old", "one: 1");
    world.chats.moved.set("old", "new");
    for (const update of updates) expect(await world.post(update)).toBe(200);
    await write(world, "new", "two", { mentions: false });
    await world.shows("new", "two: 3");
    expect(new Set(world.requests.map(({ asker }) => asker)).size).toBe(1);
    const listed = await world.stub.listConversations();
    expect(listed.map(({ threadId }) => threadId)).toEqual(["fake:new"]);
  });

  it("says an answer in the new chat that was refused in the old one, and goes on there with its memory", async () => {
    const gate = createGate();
    const world = createGroup({
      script: (request) => [...(request.said === "one" ? [holdAt(gate)] : []), ...counting(request)],
    });
    await write(world, "old", "one");
    await untilReached(gate);
    world.chats.moved.set("old", "new");
    gate.open();
    await world.shows("new", "one: 1");
    expect(world.chats.messages("new").map(({ replyTo }) => replyTo)).toEqual([undefined]);
    // The platform has not said a word of it yet.
    await vi.waitFor(async () => {
      const [entry] = await world.stub.listConversations();
      expect(entry?.threadId).toBe("fake:new");
    });
    await write(world, "new", "two", { id: "m-two" });
    await world.shows("new", "one: 1", "two: 3");
    expect(world.chats.messages("new").at(-1)?.replyTo).toBe("m-two");
    for (const update of [toNew, fromOld]) expect(await world.post(update)).toBe(200);
    await write(world, "new", "three");
    await world.shows("new", "one: 1", "two: 3", "three: 5");
  });

  it("answers what waited, and what comes late from the old chat, in the new one, and quotes none of it", async () => {
    const gate = createGate();
    const world = createGroup({
      script: (request) => [...(request.said === "one" ? [holdAt(gate)] : []), ...counting(request)],
    });
    await write(world, "old", "one");
    await untilReached(gate);
    await write(world, "old", "two");
    world.chats.moved.set("old", "new");
    await world.post(toNew);
    await write(world, "old", "late");
    gate.open();
    await world.shows("new", "one: 1", "two\nlate: 3");
    expect(world.chats.messages("new").map(({ replyTo }) => replyTo)).toEqual([undefined, undefined]);
  });

  it("takes /stop in the new chat for the answer that was asked for in the old one", async () => {
    const gate = createGate();
    const world = createGroup({ script: () => [holdAt(gate), say("never")] });
    await write(world, "old", "one");
    await untilReached(gate);
    world.chats.moved.set("old", "new");
    await world.post(toNew);
    await write(world, "new", "/stop");
    await world.shows("new", "(stopped)");
    gate.open();
    expect(world.chats.visible("old")).toEqual([]);
  });

  it("corrects no waiting message by an edit of another one that has its number in the new chat", async () => {
    const gate = createGate();
    const world = createGroup({
      script: (request) => [...(request.said === "one" ? [holdAt(gate)] : []), ...counting(request)],
    });
    await write(world, "old", "one");
    await untilReached(gate);
    await write(world, "old", "two", { id: "7" });
    world.chats.moved.set("old", "new");
    await world.post(toNew);
    await write(world, "new", "something else", { id: "7", mentions: false });
    await write(world, "new", "something else, edited", { id: "7", kind: "edit" });
    gate.open();
    await world.shows("new", "one: 1", "two: 3");
    expect(world.requests.map(({ said }) => said)).toEqual(["one", "two"]);
  });

  it("answers a message once that came, and is delivered again, around the moment at which it is known", async () => {
    const world = createGroup();
    await write(world, "old", "one");
    await world.shows("old", "one: 1");
    world.chats.moved.set("old", "new");
    // It overtakes what says where it comes from.
    const early = { id: "e1", sentAt: 1 };
    await write(world, "new", "early", early);
    await world.shows("new", "early: 1");
    await world.post(fromOld);
    expect(await write(world, "new", "early", early)).toBe(200);
    await write(world, "new", "two");
    await world.shows("new", "early: 1", "two: 3");
    expect((await world.stub.listConversations()).map(({ threadId }) => threadId)).toEqual(["fake:new"]);
  });

  it("gives a resolver the ids that the group had first, so that it names the same conversation", async () => {
    const seen: string[] = [];
    const world = createGroup({
      messenger: {
        conversation: ({ thread }) => {
          seen.push(thread.chatId);
          return { target: "subagent", name: thread.id };
        },
      },
    });
    await write(world, "old", "one");
    await world.shows("old", "one: 1");
    world.chats.moved.set("old", "new");
    await world.post(fromOld);
    await write(world, "new", "two");
    await world.shows("new", "two: 3");
    expect(new Set(seen)).toEqual(new Set(["old"]));
  });

  it("is the chat of a running turn for the bot's code from then on", async () => {
    const gate = createGate();
    const chats: (string | undefined)[] = [];
    const where = tool({
      inputSchema: z.object({}),
      execute: () => void chats.push(getTurn()?.answerTo[0]?.chatId),
    });
    const world = createGroup({
      getTools: () => ({ where }),
      script: ({ prompt }) => {
        const calls = prompt.filter(({ role }) => role === "tool").length;
        if (calls === 0) return [callTool("where")];
        return calls === 1 ? [holdAt(gate), callTool("where")] : [say("done")];
      },
    });
    await write(world, "old", "one");
    await untilReached(gate);
    world.chats.moved.set("old", "new");
    expect(await world.post(toNew)).toBe(200);
    gate.open();
    await world.shows("new", "done");
    expect(chats).toEqual(["old", "new"]);
  });

  it("keeps another chat apart (I11)", async () => {
    const world = createGroup();
    await write(world, "old", "one");
    await world.shows("old", "one: 1");
    await world.post(toNew);
    await write(world, "other", "two");
    await world.shows("other", "two: 1");
    expect(new Set(world.requests.map(({ asker }) => asker)).size).toBe(2);
  });
});

describe("an object that dies while its group moves", () => {
  it("delivers what was refused, and tells the root, in its next life", async () => {
    const gate = createGate();
    const world = createGroup({
      script: (request) => [...(request.said === "one" ? [holdAt(gate)] : []), ...counting(request)],
    });
    await write(world, "old", "one");
    await untilReached(gate);
    world.chats.moved.set("old", "new");
    await kill(world.thread("old"));
    gate.open();
    await runDurableObjectAlarm(world.thread("old"));
    await world.shows("new", "one: 1");
    await vi.waitFor(async () => {
      const [entry] = await world.stub.listConversations();
      expect(entry?.threadId).toBe("fake:new");
    });
    await write(world, "new", "two");
    await world.shows("new", "one: 1", "two: 3");
  });

  it("knows the move after the root and the conversation were both started again", async () => {
    const world = createGroup();
    await write(world, "old", "one");
    await world.shows("old", "one: 1");
    world.chats.moved.set("old", "new");
    await world.post(toNew);
    await evictDurableObject(world.thread("old"));
    await evictDurableObject(world.stub);
    await write(world, "new", "two");
    await world.shows("new", "two: 3");
    await write(world, "old", "late");
    await world.shows("new", "two: 3", "late: 5");
    expect(world.chats.visible("old")).toEqual(["one: 1"]);
  });

  it("tells the root in its next life what the root was not there to hear", async () => {
    const gate = createGate();
    const world = createGroup({
      script: (request) => [...(request.said === "one" ? [holdAt(gate)] : []), ...counting(request)],
    });
    await write(world, "old", "one");
    await untilReached(gate);
    world.chats.moved.set("old", "new");
    const isAway = vi.spyOn(RootRuntime.prototype, "chatMoved").mockImplementation(() => {
      throw new Error("the root is away");
    });
    gate.open();
    await world.shows("new", "one: 1");
    await vi.waitFor(() => expect(isAway).toHaveBeenCalled());
    await kill(world.thread("old"));
    isAway.mockRestore();
    await write(world, "old", "late");
    await world.shows("new", "one: 1", "late: 3");
    await vi.waitFor(async () => {
      const [entry] = await world.stub.listConversations();
      expect(entry?.threadId).toBe("fake:new");
    });
    await write(world, "new", "two");
    await world.shows("new", "one: 1", "late: 3", "two: 5");
  });
});
