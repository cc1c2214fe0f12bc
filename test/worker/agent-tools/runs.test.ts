import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import { agentTool } from "../../../src/agent-tools/index.ts";
import { action, ENGLISH_TEXTS } from "../../../src/index.ts";
import type { ThinkActions } from "../../../src/index.ts";
import { byLanguage, german } from "../../../src/texts/index.ts";
import { createAgentBot, isChild, topicOf } from "../support/agent-bot.ts";
import { expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ChildBot, ScriptedBot } from "../worker.ts";

beforeEach(() => void captureLog());

function agentRequests({ requests }: World): World["requests"] {
  return requests.filter(({ asker }) => asker.includes("agent-tool"));
}

const topicSchema = z.object({ topic: z.string() });

const about: ModelScript = (request) => [say(`All about ${topicOf(request)}.`)];

/** Calls `act` for its topic, and says what came of it. */
const acting: ModelScript = (request) => {
  const last = request.prompt.at(-1);
  const outcome = /^Result: (.*)$/m.exec(request.said);
  if (outcome !== null) return [say(`Done: ${outcome[1]}`)];
  if (last?.role === "tool") return [say(`Tool: ${JSON.stringify(last.content)}`)];
  return [callTool("act", { topic: topicOf(request) })];
};

describe("an agent as a tool", () => {
  it("gives the model the last words of an agent with its own transcript", async () => {
    const world = createAgentBot({ child: about });
    await world.write("c1", "My secret is 4711081547");
    await world.shows("c1", "Heard: My secret is 4711081547");
    await world.write("c1", "Research bees");
    await world.shows("c1", "Heard: My secret is 4711081547", "Tool: All about bees.");
    const [asked, ...more] = agentRequests(world);
    expect(more).toEqual([]);
    expect(JSON.stringify(asked?.prompt)).not.toContain("4711081547");
  });

  it("lets agents of one step work side by side, and shows how far they are", async () => {
    const gate = createGate();
    const world = createAgentBot({
      child: (request) => [holdAt(gate), ...about(request)],
    });
    await world.write("c1", "Research bees, wasps, ants");
    await vi.waitFor(() => expect(agentRequests(world)).toHaveLength(3), { timeout: 8000 });
    await expectShown(world, "Researcher …");
    gate.open();
    await world.shows("c1", "Tool: All about bees. and All about wasps. and All about ants.");
  });

  it("shows the progress of an agent's action in the chat", async () => {
    const gate = createGate();
    const act = action({
      description: "Acts.",
      inputSchema: z.object({ topic: z.string() }),
      execute: async (_input, ctx) => {
        ctx.progress({ message: "Reading page 3" });
        await gate.pass();
        return "read";
      },
    });
    const progress: string[] = [];
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
      onStart: (agent) => {
        Object.assign(agent, {
          onProgress: (_run: object, { message }: { readonly message: string }) =>
            void progress.push(message),
        });
      },
    });
    await world.write("c1", "Research bees");
    await vi.waitFor(() => expect(progress).toEqual(["Reading page 3"]), { timeout: 8000 });
    await expectShown(world, "Researcher: Reading page 3");
    expect(progress).toEqual(["Reading page 3"]);
    gate.open();
    await expectShown(world, "Tool: Tool:");
    expect(world.chats.visible("c1").join()).not.toContain("Reading");
  });

  it("gives the model a clear failure above the limits", async () => {
    const world = createAgentBot({
      child: (request) =>
        request.tools.includes("research") && request.prompt.at(-1)?.role !== "tool"
          ? [callTool("research", { topic: "deeper" })]
          : [say(JSON.stringify(request.prompt.at(-1)?.content))],
      getTools: () => ({
        research: agentTool(ChildBot, {
          description: "Researches.",
          inputSchema: z.object({ topic: z.string() }),
        }),
      }),
      onStart: (agent) => void Object.assign(agent, { maxAgentToolDepth: 2, maxConcurrentAgentTools: 1 }),
    });
    await world.write("c1", "Research bees");
    await expectShown(world, "at most 2 deep");
    expect(agentRequests(world)).toHaveLength(4);
    await world.write("c1", "Research bees, wasps");
    await expectShown(world, "At most 1 agents may work for this conversation at once");
  });

  it("begins no more agents than may work at once, and tells the model of the others", async () => {
    const world = createAgentBot({ child: about });
    await world.write("c1", "Research a, b, c, d, e, f, g");
    const { texts } = await expectShown(world, "Tool:");
    expect(texts.at(-1)?.match(/All about/g)).toHaveLength(5);
    expect(texts.at(-1)?.match(/At most 5 agents/g)).toHaveLength(2);
    await world.write("c1", "Research h");
    await expectShown(world, "Tool: All about h.");
  });

  it("tells the model that an agent has failed, without its exception", async () => {
    const world = createAgentBot({
      child: () => {
        throw new Error("password hunter2");
      },
    });
    await world.write("c1", "Research bees");
    const shown = await expectShown(world, '"status":"error"');
    expect(shown.texts.at(-1)).toContain('"retryable":false');
    expect(shown.texts.at(-1)).not.toContain("hunter2");
  });

  it("reads the agent's last words by the tool's output schema", async () => {
    const world = createAgentBot({
      child: (request) => [say(topicOf(request) === "bees" ? '{"legs":6}' : "six legs")],
      tool: { outputSchema: z.object({ legs: z.number() }) },
    });
    await world.write("c1", "Research bees");
    await world.shows("c1", 'Tool: {"legs":6}');
    await world.write("c1", "Research ants");
    await expectShown(world, "does not fit its schema");
  });

  it("counts the agent's tokens for the person who asks", async () => {
    const world = createAgentBot({
      child: about,
      onStart: (agent) => {
        if (!isChild(agent)) Object.assign(agent, { keepUsageMs: 86_400_000 });
      },
    });
    await world.write("c1", "Research bees");
    await world.shows("c1", "Tool: All about bees.");
    await vi.waitFor(
      async () => {
        const used = await runInDurableObject(world.stub, (bot) => bot.usage({ by: ["person", "chat"] }));
        // Two model calls of the conversation and one of the agent, with a token each way.
        expect(used).toMatchObject([
          { userId: "ada", chatId: "c1", turns: 2, inputTokens: 3, outputTokens: 3 },
        ]);
      },
      { timeout: 8000 },
    );
  });

  it("counts the tokens of an agent's agent, too", async () => {
    const world = createAgentBot({
      child: (request) => {
        if (request.prompt.at(-1)?.role === "tool") return [say("Deep.")];
        return topicOf(request) === "deeper" ? [say("Deeper.")] : [callTool("research", { topic: "deeper" })];
      },
      getTools: () => ({
        research: agentTool(ChildBot, { description: "Researches.", inputSchema: topicSchema }),
      }),
      onStart: (agent) => {
        if (!isChild(agent)) Object.assign(agent, { keepUsageMs: 86_400_000 });
      },
    });
    await world.write("c1", "Research bees");
    await world.shows("c1", "Tool: Deep.");
    await vi.waitFor(async () => {
      const used = await runInDurableObject(world.stub, (bot) => bot.usage({ by: ["person", "chat"] }));
      // Two model calls of the conversation, two of the agent, and one of the agent's agent.
      expect(used).toMatchObject([{ userId: "ada", chatId: "c1", inputTokens: 5, outputTokens: 5 }]);
    });
  });

  it("gives the model what the agent's getAgentToolOutput() returns instead of its words", async () => {
    const log = captureLog();
    const outputs: (() => unknown)[] = [
      () => ({ legs: 6 }),
      () => {
        throw new Error("password hunter2");
      },
    ];
    const world = createAgentBot({
      child: about,
      onStart: (agent) => {
        if (isChild(agent)) Object.assign(agent, { getAgentToolOutput: () => outputs.shift()?.() });
      },
    });
    await world.write("c1", "Research bees");
    await world.shows("c1", 'Tool: {"legs":6}');
    await world.write("c1", "Research ants");
    const shown = await expectShown(world, "The agent could not give its output.");
    expect(shown.texts.at(-1)).not.toContain("hunter2");
    expect(JSON.stringify(log)).toContain("getAgentToolOutput");
  });

  it("tells the bot's hooks, and finds and forgets the run", async () => {
    const heard: string[] = [];
    const world = createAgentBot({
      child: about,
      onStart: (agent) => {
        Object.assign(agent, {
          onAgentToolStart: ({ agentType, status }: Record<string, string>) =>
            void heard.push(`start ${agentType} ${status}`),
          onAgentToolFinish: (
            { runId }: Record<string, string>,
            { status, summary }: Record<string, string>,
          ) => void heard.push(`finish ${status} ${summary} ${runId?.startsWith("agent-tool:")}`),
        });
      },
    });
    await world.write("c1", "Research bees");
    await world.shows("c1", "Tool: All about bees.");
    await vi.waitFor(() =>
      expect(heard).toEqual(["start ChildBot starting", "finish completed All about bees. true"]),
    );
    const child = world.requests.find(({ asker }) => asker.includes("agent-tool"))?.asker ?? "";
    const runId = decodeURIComponent(child.split("named:")[1] ?? "");
    await runInDurableObject(world.thread("c1"), async (bot) => {
      expect(bot.hasAgentToolRun(ChildBot, runId)).toBe(true);
      const [run] = await testEnv.ChildBot.getByName(child).listSubmissions();
      expect(run?.status).toBe("completed");
      await bot.clearAgentToolRuns({ status: ["error"] });
      expect(bot.hasAgentToolRun("ChildBot", runId)).toBe(true);
      await bot.clearAgentToolRuns();
      expect(bot.hasAgentToolRun("ChildBot", runId)).toBe(false);
    });
  });

  it("finds the agent for which it works", async () => {
    const parents: number[] = [];
    const look = action({
      description: "Looks.",
      inputSchema: z.object({ topic: z.string() }),
      execute: async (_input, { agent }) => {
        const parent = await agent.parentAgent(ScriptedBot);
        const listed = parent.listConversations() as unknown as Promise<readonly unknown[]>;
        parents.push((await listed).length);
        return "looked";
      },
    });
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act: look } : {}),
    });
    await world.write("c1", "Research bees");
    await expectShown(world, "looked");
    expect(parents).toEqual([0]);
    await runInDurableObject(world.thread("c1"), async (bot) => {
      await expect(bot.parentAgent(ScriptedBot)).rejects.toMatchObject({ code: "parent-missing" });
    });
  });
});

describe("an agent that asks people", () => {
  const refund = (done: string[], rest: { readonly approvers?: readonly string[] } = {}) =>
    action({
      ...rest,
      description: "Refunds.",
      inputSchema: z.object({ topic: z.string() }),
      approval: true,
      execute: ({ topic }) => {
        done.push(topic);
        return { refunded: topic };
      },
    });

  it.each([
    ["Approve", ["A7"], 'Done: {"refunded":"A7"}'],
    ["Reject", [], "Done: "],
  ] as const)("asks in the chat with its name, and takes %s once", async (label, effects, told) => {
    const done: string[] = [];
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act: refund(done) } : {}),
    });
    await world.write("c1", "Research A7");
    const card = await expectShown(world, "Researcher:");
    expect(card.texts.at(-1)).toBe("Researcher: Refunds.\nTopic: A7\n\nPlease pick one.");
    const token = world.chats.button("c1", label);
    await world.press("c1", label);
    await expectShown(world, told);
    if (token !== undefined) await world.pressToken("c1", token).catch(() => undefined);
    expect(done).toEqual(effects);
  });

  it("asks in the texts of the bot, in the language of the person", async () => {
    const act = action({
      description: "Erstattet.",
      inputSchema: z.object({ topic: z.string(), express: z.boolean() }),
      approval: true,
      approvalRisk: "high",
      execute: () => "done",
    });
    const world = createAgentBot({
      child: (request) =>
        request.prompt.at(-1)?.role === "tool"
          ? [say("Done.")]
          : [callTool("act", { topic: "A7", express: true })],
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
      settings: { texts: byLanguage({ en: ENGLISH_TEXTS, de: german }) },
    });
    await world.write("c1", "Research A7", { language: "de" });
    const card = await expectShown(world, "Researcher:");
    expect(card.texts.at(-1)).toBe(
      "Researcher: Erstattet.\nRisiko: hoch\nTopic: A7\nExpress: ja\n\nBitte wähle etwas aus.",
    );
  });

  it("lets only the person decide who has asked", async () => {
    const done: string[] = [];
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act: refund(done) } : {}),
    });
    const group = { isGroup: true, mentions: true };
    await world.write("g1", "Research A7", { user: "ada", ...group });
    await expectShown(world, "Researcher:", "g1");
    await world.press("g1", "Approve", { user: "eve", ...group });
    expect(done).toEqual([]);
    await world.press("g1", "Approve", { user: "ada", ...group });
    await expectShown(world, 'Done: {"refunded":"A7"}', "g1");
    expect(done).toEqual(["A7"]);
  });

  it("passes answers to questions back, one after the other", async () => {
    const act = action({
      description: "Asks.",
      inputSchema: z.object({ topic: z.string() }),
      execute: async ({ topic }, ctx) => {
        const isWanted = await ctx.confirm({ message: `Really ${topic}?` });
        const { value, why } = await ctx.elicit({
          message: "Which size?",
          schema: z.number(),
        });
        return { isWanted, size: value ?? why };
      },
    });
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
    });
    await world.write("c1", "Research A7");
    await expectShown(world, "Researcher: Really A7?");
    await world.press("c1", "Yes");
    await expectShown(world, "Researcher: Which size?");
    await world.write("c1", "42", { sentAt: Date.now() });
    await expectShown(world, 'Done: {"isWanted":true,"size":42}');
  });

  it("asks what an approved action asks, too, and counts the tokens of that action", async () => {
    const act = action({
      description: "Acts.",
      inputSchema: z.object({ topic: z.string() }),
      approval: true,
      execute: async ({ topic }, ctx) => {
        const isSure = await ctx.confirm({ message: `Sure about ${topic}?` });
        return { isSure, words: await ctx.sample({ prompt: "words" }) };
      },
    });
    const world = createAgentBot({
      child: (request) => (request.isStreamed ? acting(request) : [say("sampled")]),
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
      onStart: (agent) => {
        if (!isChild(agent)) Object.assign(agent, { keepUsageMs: 86_400_000 });
      },
    });
    await world.write("c1", "Research A7");
    await world.press("c1", "Approve");
    await expectShown(world, "Sure about A7?");
    await world.press("c1", "Yes");
    await expectShown(world, 'Done: {"isSure":true,"words":"sampled"}');
    await vi.waitFor(
      async () => {
        const used = await runInDurableObject(world.stub, (bot) => bot.usage({ by: ["person"] }));
        const calls = world.requests.length;
        expect(used).toMatchObject([{ userId: "ada", inputTokens: calls, outputTokens: calls }]);
      },
      { timeout: 8000 },
    );
  });

  it("refuses consent that somebody else must give, with a clear word", async () => {
    const done: string[] = [];
    const act = refund(done, { approvers: ["boss"] });
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
    });
    await world.write("c1", "Research A7");
    await expectShown(world, "only the person who asks can be asked");
    expect(done).toEqual([]);
  });
});

describe("a run that nobody wants any more", () => {
  it("ends with /stop in the chat, and agents of the agent too", async () => {
    const gate = createGate();
    const world = createAgentBot({
      child: (request) =>
        topicOf(request) === "deeper"
          ? [holdAt(gate), say("never")]
          : [callTool("research", { topic: "deeper" })],
      getTools: () => ({
        research: agentTool(ChildBot, {
          description: "Researches.",
          inputSchema: z.object({ topic: z.string() }),
        }),
      }),
    });
    await world.write("c1", "Research bees");
    await gate.reached;
    await world.write("c1", "/stop");
    const agents = [...new Set(world.requests.map(({ asker }) => asker))].filter((name) =>
      name.includes("agent-tool"),
    );
    expect(agents).toHaveLength(2);
    await vi.waitFor(
      async () => {
        for (const name of agents) {
          const [run] = await testEnv.ChildBot.getByName(name).listSubmissions();
          expect(run?.status).toBe("aborted");
        }
      },
      { timeout: 8000 },
    );
  });

  it("ends when a message interrupts its turn", async () => {
    const gate = createGate();
    const world = createAgentBot({
      child: () => [holdAt(gate), say("never")],
      messenger: { whenBusy: "interrupt" },
    });
    await world.write("c1", "Research bees");
    await gate.reached;
    await world.write("c1", "Never mind");
    await expectShown(world, "Heard: Never mind");
    const [{ asker } = { asker: "" }] = agentRequests(world);
    await vi.waitFor(
      async () => {
        const [run] = await testEnv.ChildBot.getByName(asker).listSubmissions();
        expect(run?.status).toBe("aborted");
      },
      { timeout: 8000 },
    );
    gate.open();
    expect(world.chats.visible("c1").join()).not.toContain("never");
  });

  it("ends with /stop while its question waits", async () => {
    const act = action({
      description: "Asks.",
      inputSchema: z.object({ topic: z.string() }),
      execute: async (_input, ctx) => ctx.confirm({ message: "Really?" }),
    });
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
    });
    await world.write("c1", "Research A7");
    await expectShown(world, "Really?");
    await world.write("c1", "/stop");
    await expectShown(world, '"status":"aborted"');
    expect(agentRequests(world)).toHaveLength(1);
  });
});
