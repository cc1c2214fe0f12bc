import { runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ChannelContext, ThinkChannels } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say, textOf } from "../support/scripted-model.ts";
import type { ModelRequest } from "../support/scripted-model.ts";
import { refundAction, refundScript } from "../support/refund-bot.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

const lookup = tool({ description: "Look.", inputSchema: z.object({}), execute: () => "found" });
const buy = tool({ description: "Buy.", inputSchema: z.object({}), execute: () => "bought" });

function create(channels: ThinkChannels, rest: WorldOptions = {}): World {
  return createWorld({
    getTools: () => ({ lookup, buy }),
    ...rest,
    settings: { ...rest.settings, configureChannels: () => channels },
  });
}

function systemOf({ prompt }: ModelRequest): string {
  return prompt
    .filter(({ role }) => role === "system")
    .map(textOf)
    .join("\n");
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "none",
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

describe("the channel of a turn", () => {
  it("has instructions before the prompt, and only its tools", async () => {
    const world = create({
      fake: {
        instructions: ({ channelId, kind, thread }) => `You are on ${channelId} (${kind}) in ${thread}.`,
        tools: ({ lookup: only }) => ({ lookup: only, stolen: buy }),
      },
      web: { instructions: "Use tables." },
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    const [first] = world.requests;
    expect(first && systemOf(first)).toMatch(
      /^You are on fake \(messenger\) in fake:c1\.\n\nYou are a test\./,
    );
    expect(first?.tools).toEqual(["lookup"]);
    await world.thread("c1").runTurn({ mode: "wait", messages: "Sum up." });
    const second = world.requests.at(-1);
    expect(second && systemOf(second)).toMatch(/^Use tables\.\n\nYou are a test\./);
    expect(second?.tools).toEqual(["lookup", "buy"]);
  });

  it("caps the steps of a turn, unless beforeTurn does", async () => {
    const steps: number[] = [];
    const script = ({ prompt }: ModelRequest) => {
      steps.push(prompt.filter(({ role }) => role === "tool").length);
      return [say("Again. "), callTool("lookup")];
    };
    const world = create({ fake: { maxTurns: 2 }, long: { maxTurns: 4 } }, { script });
    await world.write("c1", "Hello");
    await expect.poll(() => steps.length).toBe(2);
    const child = world.child("own");
    expect(await child.runTurn({ mode: "wait", messages: "Go", channel: "long" })).toMatchObject({
      status: "completed",
    });
    expect(steps.length).toBe(2 + 4);
    await child.runTurn({ mode: "wait", messages: "Go" });
    // The bot's own limit.
    expect(steps.length).toBe(2 + 4 + 10);
    const hooked = create(
      { fake: { maxTurns: 2 } },
      { script, hooks: { beforeTurn: () => ({ maxSteps: 3 }) } },
    );
    steps.length = 0;
    await hooked.write("c1", "Hello");
    await expect.poll(() => steps.length).toBe(3);
  });

  it("is known to the bot's code as activeChannel, in turns and while an event is handled", async () => {
    const seen: (ChannelContext | undefined)[] = [];
    const world = create(
      { voice: { kind: "voice" } },
      {
        getSystemPrompt: (agent) => {
          seen.push(agent.activeChannel);
          return "You are a test.";
        },
      },
    );
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    await world.child("own").runTurn({ mode: "wait", messages: "Read it out.", channel: "voice" });
    await world.stub.runTurn({ mode: "wait", messages: "Sum up." });
    expect(seen).toMatchObject([
      { channelId: "fake", kind: "messenger", thread: "fake:c1", messenger: { messengerId: "fake" } },
      { channelId: "voice", kind: "voice" },
      { channelId: "web", kind: "web" },
    ]);
    expect(await runInDurableObject(world.stub, (bot) => bot.activeChannel)).toBeUndefined();
  });

  it("keeps its channel over a restart", async () => {
    const world = create({ voice: { instructions: "Speak." } });
    const child = world.child("own");
    await child.submitMessages("Hello", { channel: "voice", submissionId: "s1" });
    await runInDurableObject(child, async (_bot, state) => {
      await state.storage.sync();
      state.abort("killed by a test");
    }).catch(() => undefined);
    await world.child("own").waitForSubmission("s1");
    const last = world.requests.at(-1);
    expect(last && systemOf(last)).toMatch(/^Speak\./);
  });

  it("is also that of the turn about an action that somebody has decided about", async () => {
    const { refund } = refundAction();
    const world = create(
      { voice: { instructions: "Speak." } },
      { script: refundScript, getActions: () => ({ refund }) },
    );
    const child = world.child("own");
    await child.runTurn({ mode: "wait", messages: "Refund 7", channel: "voice" });
    const [{ executionId } = { executionId: "" }] = await child.pendingApprovals();
    await child.approveExecution(executionId);
    await expect.poll(() => world.requests.at(-1)?.said).toContain("Outcome of an action");
    const last = world.requests.at(-1);
    expect(last && systemOf(last)).toMatch(/^Speak\./);
  });

  it("is refused if nobody has declared it", async () => {
    const world = create({ voice: {} });
    await runInDurableObject(world.stub, async (bot) => {
      expect(await codeOf(bot.runTurn({ mode: "wait", messages: "Hello", channel: "vioce" }))).toBe(
        "channel-unknown",
      );
      expect(await codeOf(bot.submitMessages("Hello", { channel: "vioce" }))).toBe("channel-unknown");
      expect(await codeOf(bot.deliverNotice("Hello", { channel: "vioce", thread: "1" }))).toBe(
        "channel-unknown",
      );
      expect(await codeOf(bot.deliverNotice("Hello", { channel: "voice", thread: "1" }))).toBe(
        "channel-without-chats",
      );
      expect(await codeOf(bot.deliverNotice("Hello", { channel: "fake", thread: "nowhere" }))).toBe(
        "thread-unknown",
      );
    });
    expect(world.requests).toEqual([]);
  });
});

describe("configureChannels", () => {
  it.each<[string, ThinkChannels, RegExp]>([
    [
      "an unknown option",
      { fake: { ingress: {} } as never },
      /"fake" cannot be used\. ingress does not exist\. .*getMessengers/,
    ],
    ["a wrong limit", { fake: { maxTurns: 0 } }, /maxTurns must be a whole number of 1 or more\. It is 0/],
    ["a kind that is not its own", { fake: { kind: "voice" } }, /Remove the kind/],
    ["a messenger that is not there", { slack: { kind: "messenger" } }, /There is no messenger "slack"/],
    ["another web", { page: { kind: "web" } }, /"web", and no other one/],
  ])("names %s at the start", async (_name, channels, problem) => {
    const world = create(channels);
    const health = await runInDurableObject(
      world.stub,
      (bot) => bot.inner("healthProblem", []) as Promise<{ readonly code: string; readonly message: string }>,
    );
    expect(health.code).toBe("channel-invalid");
    expect(health.message).toMatch(problem);
  });
});
