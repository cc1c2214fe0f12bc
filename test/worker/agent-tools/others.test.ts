import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { FlexibleSchema } from "ai";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { AgentToolsFeature } from "../../../src/agent-tools/agent-tools-feature.ts";
import { agentTool } from "../../../src/agent-tools/index.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { action, photoSchema, placeSchema, roles } from "../../../src/index.ts";
import type { Action, ThinkActions } from "../../../src/index.ts";
import { createAgentBot, isChild, topicOf } from "../support/agent-bot.ts";
import { expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { more } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { OtherBot } from "../worker.ts";

beforeEach(() => void captureLog());
afterEach(() => void vi.restoreAllMocks());

const bosses = roles({ boss: ["dana", "eve"] }, { dana: "Dana", eve: "Eve" });
const GROUP = { isGroup: true, mentions: true } as const;
const inputSchema = z.object({ topic: z.string() });

/** Calls `act` for its topic, and says what came of it. */
const acting: ModelScript = (request) => {
  const outcome = /^Result: (.*)$/m.exec(request.said);
  if (outcome !== null) return [say(`Done: ${outcome[1]}`)];
  const last = request.prompt.at(-1);
  if (last?.role === "tool") return [say(`Waits: ${JSON.stringify(last.content)}`)];
  const topic = topicOf(request);
  const deeper = /^deeper (.*)/.exec(topic)?.[1];
  return [deeper === undefined ? callTool("act", { topic }) : callTool("research", { topic: deeper })];
};

/** A bot whose agent has its messengers, and calls `act` for its topic. Dana and Eve are its bosses. */
async function createServedAgent(
  act: Action,
  options: { detached?: boolean } & WorldOptions = {},
): Promise<World> {
  const { detached = false, ...rest } = options;
  const research = agentTool(OtherBot, {
    description: "Researches.",
    inputSchema,
    displayName: "Researcher",
    detached,
  });
  const world = createAgentBot({
    child: acting,
    getTools: () => ({ research }),
    getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
    authorizeTurn: ({ person }) => ({
      allowed: true,
      grantedPermissions: bosses(person),
      people: bosses.people,
    }),
    ...rest,
  });
  for (const user of ["dana", "eve"]) {
    await world.write(user, "Hello", { user });
    await world.shows(user, "Heard: Hello");
  }
  return world;
}

function refund(done: string[], rest: object = {}): Action {
  return action({
    description: "Refunds.",
    inputSchema,
    approval: true,
    execute: ({ topic }) => {
      done.push(topic);
      return { refunded: topic };
    },
    ...rest,
  });
}

it("asks those who may agree in their chats, while its caller's conversation goes on", async () => {
  const done: string[] = [];
  const world = await createServedAgent(refund(done, { approvers: ["dana", "eve"] }));
  await world.write("c1", "Research A7");
  await expectShown(world, '"status":"waiting"');
  const card = await expectShown(world, "Researcher", "dana");
  expect(card.texts.at(-1)).toContain("A7");
  await world.write("c1", "Hello");
  await expectShown(world, "Heard: Hello");
  // The person who asks has no say.
  const token = world.chats.button("dana", "Approve") ?? "";
  await world.pressToken("dana", token, { user: "ada" }).catch(() => undefined);
  expect(done).toEqual([]);
  await world.press("dana", "Approve", { user: "dana" });
  await expectShown(world, 'Told: "Done: {"refunded":"A7"}');
  await world.pressToken("dana", token, { user: "dana" }).catch(() => undefined);
  expect(done).toEqual(["A7"]);
});

it("hears of a decision within seconds although the agent could not tell it", async () => {
  let passed = 0;
  vi.spyOn(systemDeps.clock, "now").mockImplementation(() => Date.now() + passed);
  const nudged = vi
    .spyOn(AgentToolsFeature.prototype, "nudgeOccurrence")
    .mockRejectedValue(new Error("lost"));
  const done: string[] = [];
  const world = await createServedAgent(refund(done, { approvers: ["dana"] }));
  await world.write("c1", "Research A7");
  await expectShown(world, '"status":"waiting"');
  await world.press("dana", "Approve", { user: "dana" });
  await vi.waitFor(() => expect(nudged).toHaveBeenCalled(), { timeout: 8000 });
  await expectShown(world, "refunded: A7", "dana");
  passed += 10_000;
  await runDurableObjectAlarm(world.thread("c1"));
  await expectShown(world, 'Told: "Done: {"refunded":"A7"}');
});

it("waits for as many people as must agree, through the death of all objects", async () => {
  const done: string[] = [];
  const world = await createServedAgent(refund(done, { approvers: ["dana", "eve"], quorum: 2 }));
  await world.write("c1", "Research A7");
  await expectShown(world, '"status":"waiting"');
  await world.press("dana", "Approve", { user: "dana" });
  const agent = world.requests.find(({ asker }) => asker.includes("agent-tool"))?.asker ?? "";
  for (const stub of [world.thread("c1"), testEnv.OtherBot.getByName(agent)]) await evictDurableObject(stub);
  expect(done).toEqual([]);
  await world.press("eve", "Approve", { user: "eve" });
  await expectShown(world, 'Told: "Done: {"refunded":"A7"}');
  expect(done).toEqual(["A7"]);
});

it("asks for files and secrets by itself, and reads them", async () => {
  const act = action({
    description: "Asks.",
    inputSchema,
    execute: async (_input, ctx) => {
      const photo = await ctx.elicit({ message: "A photo, please", schema: photoSchema() });
      const pin = await ctx.elicit({ message: "PIN?", schema: z.string(), sensitive: true });
      if (photo.value === undefined) return photo;
      const { bytes } = await ctx.agent.sentFile(photo.value).fetch();
      return { bytes: bytes.byteLength, digits: pin.value?.length };
    },
  });
  const world = await createServedAgent(act);
  await world.write("c1", "Research A7");
  const { id: quotes } = await expectShown(world, "A photo, please");
  world.chats.files.set("f1", new Uint8Array(12));
  const files = [{ id: "f1", kind: "image", mediaType: "image/png", name: "a.png" }] as const;
  await world.write("c1", "", { files, quotes, sentAt: Date.now() });
  const pin = await expectShown(world, "PIN?");
  await world.write("c1", "4711", { quotes: pin.id, sentAt: Date.now() });
  await expectShown(world, '"bytes":12,"digits":4');
  expect(JSON.stringify(world.requests)).not.toMatch(/(?<![\da-f-])4711(?![\da-f-])/);
});

it.each([
  ["a photo", { schema: photoSchema() }, {}],
  ["a place", { schema: placeSchema() }, {}],
  ["a secret", { schema: z.string(), sensitive: true }, {}],
  ["somebody else", { schema: z.string(), of: { person: "dana" } }, {}],
  ["somebody while no call waits", { schema: z.string() }, { detached: true }],
] as const)("says what to do if it has no messenger and asks for %s", async (_what, question, options) => {
  const act = action({
    description: "Asks.",
    inputSchema: z.object({ topic: z.string() }),
    execute: (_input, ctx) => ctx.elicit<FlexibleSchema>({ message: "Please", ...question }),
  });
  const world = createAgentBot({
    child: acting,
    tool: options,
    getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
  });
  await world.write("c1", "Research A7");
  await expectShown(world, "the developer of the bot must give the agent its messengers");
  expect(world.chats.visible("c1").join()).not.toContain("Please");
});

it("asks the person in the chat that began a run in the background", async () => {
  const done: string[] = [];
  const act = refund(done, {
    execute: async ({ topic }: { topic: string }, ctx: { confirm(asked: object): Promise<boolean> }) => {
      if (await ctx.confirm({ message: `Sure about ${topic}?` })) done.push(topic);
      return { refunded: topic };
    },
  });
  const world = await createServedAgent(act, { detached: true });
  await world.write("g1", "Research A7", { user: "ada", ...GROUP });
  await expectShown(world, '"status":"running"', "g1");
  await expectShown(world, "Researcher", "g1");
  await world.press("g1", "Approve", { user: "bob", ...GROUP });
  expect(world.chats.visible("g1").join()).not.toContain("Sure");
  await world.press("g1", "Approve", { user: "ada", ...GROUP });
  await expectShown(world, "Sure about A7?", "g1");
  await world.press("g1", "Yes", { user: "ada", ...GROUP });
  await expectShown(world, 'Told: "Done: {"refunded":"A7"}', "g1");
  expect(done).toEqual(["A7"]);
});

it("takes its questions back when the person ends the run", async () => {
  const done: string[] = [];
  const world = await createServedAgent(refund(done, { approvers: ["dana", "eve"] }));
  await world.write("c1", "Research A7");
  await expectShown(world, '"status":"waiting"');
  const token = await tokenOf(world, "dana", "Approve");
  await world.write("c1", "/stop");
  await vi.waitFor(() => expect(world.chats.button("dana", "Approve")).toBeUndefined(), { timeout: 8000 });
  await expectShown(world, "(stopped)");
  await world.pressToken("dana", token, { user: "dana" }).catch(() => undefined);
  expect(done).toEqual([]);
});

it("takes its questions back when the bot's code forgets the run", async () => {
  const done: string[] = [];
  const world = await createServedAgent(refund(done, { approvers: ["dana", "eve"] }));
  await world.write("c1", "Research A7");
  await expectShown(world, '"status":"waiting"');
  const token = await tokenOf(world, "dana", "Approve");
  await runInDurableObject(world.thread("c1"), (bot) => bot.clearAgentToolRuns());
  await vi.waitFor(() => expect(world.chats.button("dana", "Approve")).toBeUndefined());
  await world.pressToken("dana", token, { user: "dana" });
  expect(done).toEqual([]);
  expect(await runInDurableObject(world.stub, (bot) => bot.approvals.list({ state: "waiting" }))).toEqual([]);
});

/** The token of the newest button with this label, once the chat shows it. */
async function tokenOf(world: World, chat: string, label: string): Promise<string> {
  return vi.waitFor(
    () => {
      const found = world.chats.button(chat, label);
      if (found === undefined) throw new Error(`Chat ${chat} has no button ${label}`);
      return found;
    },
    { timeout: 8000 },
  );
}

describe("an agent that asks those who have a role", () => {
  const byRole = { approvers: { role: "boss" }, requesterMayApprove: false };

  it("takes the decision of one of them, and of nobody else", async () => {
    const done: string[] = [];
    const world = await createServedAgent(refund(done, byRole));
    await world.write("g1", "Research A7", GROUP);
    await expectShown(world, "Asked by: Researcher, ada", "g1");
    for (const user of ["ada", "bob"])
      expect(await world.press("g1", "Approve", { user, ...GROUP })).toContain("You can't decide this.");
    expect(done).toEqual([]);
    await world.press("g1", "Approve", { user: "dana", ...GROUP });
    await expectShown(world, 'Told: "Done: {"refunded":"A7"}', "g1");
    expect(done).toEqual(["A7"]);
  });

  it("takes no for an answer, and tells the result", async () => {
    const done: string[] = [];
    const world = await createServedAgent(refund(done, byRole));
    await world.write("c1", "Research A7");
    await world.press("dana", "Reject", { user: "dana" });
    await expectShown(world, 'Told: "Done: "The action did not run."');
    // The agent has given its result. Its words about the reason are for nobody.
    const shown = world.chats.visible("c1").length;
    const quotes = (await expectShown(world, "Rejected", "dana")).id;
    await world.write("dana", "Too much", { user: "dana", quotes });
    await expectShown(world, "Thanks, noted.", "dana");
    await vi.waitFor(() => expect(world.requests.at(-1)?.said).toContain("Too much"));
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    expect(world.chats.visible("c1")).toHaveLength(shown + 1);
    expect(done).toEqual([]);
  });

  it("asks for an agent of an agent, and the result comes all the way back", async () => {
    const done: string[] = [];
    const world = await createServedAgent(refund(done, byRole));
    await world.write("c1", "Research deeper A7");
    await expectShown(world, '"status":"waiting"');
    await world.press("dana", "Approve", { user: "dana" });
    await expectShown(world, String.raw`Told: "Done: "Done: {\"refunded\":\"A7\"}`);
    expect(done).toEqual(["A7"]);
    expect(new Set(world.requests.map(({ asker }) => asker)).size).toBe(5);
  });

  it("lets one of them hand the decision over to another one", async () => {
    const done: string[] = [];
    const world = await createServedAgent(refund(done, byRole));
    await world.write("g1", "Research A7", GROUP);
    await more(world, "g1", { user: "dana", ...GROUP });
    await world.press("g1", "Hand over …", { user: "dana", ...GROUP });
    expect(await world.press("g1", "To Eve", { user: "bob", ...GROUP })).toContain("You can't decide this.");
    expect(await world.press("g1", "To Eve", { user: "dana", ...GROUP })).toBe("I've asked Eve to decide.");
    await world.press("eve", "Approve", { user: "eve" });
    await expectShown(world, 'Told: "Done: {"refunded":"A7"}', "g1");
    expect(done).toEqual(["A7"]);
  });

  it("asks deputies after a time", async () => {
    const done: string[] = [];
    const rest = {
      approvers: ["bob"],
      requesterMayApprove: false,
      escalateTo: ["eve"],
      escalateAfterMs: 400,
    };
    const world = await createServedAgent(refund(done, rest));
    await world.write("g1", "Research A7", GROUP);
    await world.press("eve", "Approve", { user: "eve" });
    await expectShown(world, 'Told: "Done: {"refunded":"A7"}', "g1");
    expect(done).toEqual(["A7"]);
  });

  it("says so when nobody decides in time", async () => {
    const done: string[] = [];
    const world = await createServedAgent(refund(done, { ...byRole, expiresAfterMs: 1200 }));
    await world.write("c1", "Research A7");
    const token = await tokenOf(world, "dana", "Approve");
    await expectShown(world, 'Told: "Done: "The action did not run."');
    await world.pressToken("dana", token, { user: "dana" });
    expect(done).toEqual([]);
  });

  it("ends with /new in the chat, whose card is taken back", async () => {
    const done: string[] = [];
    const world = await createServedAgent(refund(done, byRole));
    await world.write("c1", "Research A7");
    await expectShown(world, '"status":"waiting"');
    const token = await tokenOf(world, "dana", "Approve");
    await world.write("c1", "/new");
    await vi.waitFor(() => expect(world.chats.button("dana", "Approve")).toBeUndefined(), { timeout: 8000 });
    await world.pressToken("dana", token, { user: "dana" });
    expect(done).toEqual([]);
  });
});
