import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { createAgentBot, isChild, topicOf } from "../support/agent-bot.ts";
import { expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { testEnv } from "../test-env.ts";
import { ChildBot } from "../worker.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;

const about: ModelScript = (request) => [say(`All about ${topicOf(request)}.`)];

describe("a run in the background", () => {
  it("returns at once, and its result comes as a turn", async () => {
    const gate = createGate();
    const world = createAgentBot({
      child: (request) => [holdAt(gate), ...about(request)],
      tool: { detached: true },
    });
    await world.write("c1", "Research bees");
    await expectShown(world, '"status":"running"');
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    gate.open();
    await expectShown(world, 'Told: "All about bees."');
  });

  it("ends with /stop of its person, who reads that, and of nobody else", async () => {
    const gate = createGate();
    const world = createAgentBot({
      child: (request) => [holdAt(gate), ...about(request)],
      tool: { detached: true },
    });
    await world.write("g1", "Research bees", { user: "ada", ...GROUP });
    await expectShown(world, '"status":"running"', "g1");
    await gate.reached;
    await world.write("g1", "/stop", { user: "eve", ...GROUP });
    await expectShown(world, "There's nothing to stop right now.", "g1");
    await world.write("g1", "/stop", { id: "stop", user: "ada", ...GROUP });
    await expectShown(world, "(stopped)", "g1");
    await world.write("g1", "/stop", { id: "stop", user: "ada", ...GROUP });
    gate.open();
    await world.write("g1", "Hello", { user: "ada", ...GROUP });
    await expectShown(world, "Hello", "g1");
    const shown = world.chats.visible("g1").join("\n");
    expect(shown.match(/\(stopped\)/g)).toHaveLength(1);
    expect(shown).not.toContain("Told:");
  });

  it("tells that it has failed, without the exception", async () => {
    const world = createAgentBot({
      child: () => {
        throw new Error("password hunter2");
      },
      tool: { detached: true },
    });
    await world.write("c1", "Research bees");
    const shown = await expectShown(world, "Told: ");
    expect(shown.texts.at(-1)).toContain("The agent has failed");
    expect(world.chats.visible("c1").join()).not.toContain("hunter2");
  });

  it("ends with cancelAgentTool(), and nobody is told", async () => {
    const gate = createGate();
    const world = createAgentBot({ child: (request) => [holdAt(gate), ...about(request)] });
    await world.write("c1", "Hello");
    await world.shows("c1", "Heard: Hello");
    await runInDurableObject(world.thread("c1"), async (bot) => {
      const options = { input: { topic: "bees" }, runId: "mine", detached: { notify: true } } as const;
      expect(await bot.runAgentTool(ChildBot, options as never)).toMatchObject({ status: "running" });
    });
    await gate.reached;
    await runInDurableObject(world.thread("c1"), (bot) => bot.cancelAgentTool("mine"));
    const agent = world.requests.find(({ asker }) => isChild({ name: asker }))?.asker ?? "";
    await vi.waitFor(async () => {
      const [run] = await testEnv.ChildBot.getByName(agent).listSubmissions();
      expect(run?.status).toBe("aborted");
    });
    gate.open();
    await world.write("c1", "Hello again");
    await world.shows("c1", "Heard: Hello", "Heard: Hello again");
  });

  it("is for bot code, too", async () => {
    const finished: unknown[] = [];
    const world = createAgentBot({
      child: about,
      onStart: (agent) => {
        Object.assign(agent, { onDone: (_run: object, result: object) => void finished.push(result) });
      },
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "Heard: Hello");
    await runInDurableObject(world.thread("c1"), async (bot) => {
      const input = { topic: "bees" };
      const first = await bot.runAgentTool(ChildBot, { input, runId: "mine" });
      expect(first).toMatchObject({ runId: "mine", status: "completed", summary: "All about bees." });
      expect(await bot.runAgentTool(ChildBot, { input, runId: "mine" })).toEqual(first);
      const detached = { onFinish: "onDone" } as never;
      expect(await bot.runAgentTool(ChildBot, { input, runId: "later", detached })).toMatchObject({
        runId: "later",
        status: "running",
      });
    });
    await vi.waitFor(() => expect(finished).toEqual([{ status: "completed", summary: "All about bees." }]), {
      timeout: 8000,
    });
    expect(world.requests.filter(({ asker }) => asker.includes("named:"))).toHaveLength(2);
  });
});
