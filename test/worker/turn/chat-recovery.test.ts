import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type {
  ChatErrorContext,
  ChatRecoveryContext,
  ChatRecoveryExhaustedContext,
  ChatRecoveryOptions,
} from "../../../src/index.ts";
import { BOT } from "../../../src/agent/bot-root.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { callsOver } from "../../../src/core/chat/inner-calls.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { untilStored } from "../support/until-stored.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const unlimited = { editEveryMs: 0 };

/** A bot whose model says "Once upon" and hangs. */
function hanging(options: WorldOptions): { readonly world: World; die: () => Promise<void> } {
  const gates = [createGate(), createGate()];
  let calls = 0;
  let deaths = 0;
  const script: ModelScript = () => {
    const gate = gates[calls];
    calls += 1;
    return [say("Once upon"), ...(gate === undefined ? [] : [holdAt(gate)])];
  };
  const world = createWorld({ messenger: { delivery: unlimited }, ...options, script });
  return {
    world,
    die: async () => {
      const gate = gates[deaths];
      deaths += 1;
      if (gate !== undefined) await untilReached(gate);
      await untilStored(world.thread("c1"), "Once upon");
      await runInDurableObject(world.thread("c1"), (_bot, state) => {
        state.abort("killed by a test");
      }).catch(() => undefined);
    },
  };
}

describe("chatRecovery", () => {
  it("ends a turn that was interrupted too often, with the bot's own words and what was said", async () => {
    const ended: ChatRecoveryExhaustedContext[] = [];
    const { die, world } = hanging({
      settings: {
        chatRecovery: {
          maxAttempts: 1,
          terminalMessage: "Please ask again.",
          onExhausted: (context) => void ended.push(context),
        },
      },
    });
    await world.write("c1", "Tell");
    await die();
    const alarm = runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
    await die();
    await alarm;
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Once upon\n\nPlease ask again.");
    expect(world.requests).toHaveLength(2);
    expect(ended).toEqual([
      expect.objectContaining({
        reason: "max_attempts_exceeded",
        attempt: 2,
        maxAttempts: 1,
        terminalMessage: "Please ask again.",
        partialText: "Once upon",
        turn: expect.objectContaining({ kind: "messages" }) as unknown,
      }),
    ]);
    world.script(() => [say("Hello.")]);
    await world.write("c1", "Hi");
    await world.shows("c1", "Once upon\n\nPlease ask again.", "Hello.");
  });

  it("ends a turn that is too old", async () => {
    const reasons: string[] = [];
    const { die, world } = hanging({
      settings: { chatRecovery: { maxAgeMs: 0, onExhausted: ({ reason }) => void reasons.push(reason) } },
      messenger: { delivery: { ...unlimited, interruptedResponseText: "Cut short." } },
    });
    await world.write("c1", "Tell");
    await die();
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Once upon\n\nCut short.");
    expect(reasons).toEqual(["max_age_exceeded"]);
  });

  it.each([
    [3, "max_tokens_exceeded", "All done.\n\nCut short."],
    [5, undefined, "Whole."],
  ])("counts tokens over restarts: a limit of %i", async (maxTokens, reason, shown) => {
    const reasons: string[] = [];
    let calls = 0;
    const gate = createGate();
    const world = createWorld({
      settings: { chatRecovery: { maxTokens, onExhausted: (ended) => void reasons.push(ended.reason) } },
      messenger: { delivery: { ...unlimited, interruptedResponseText: "Cut short." } },
      getTools: () => ({ look: tool({ inputSchema: z.object({}), execute: () => "seen" }) }),
      script: () => {
        calls += 1;
        return calls < 3 ? [callTool("look")] : [say("All done."), holdAt(gate)];
      },
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "All done.");
    await untilStored(world.thread("c1"), "All done.");
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    world.script(() => [say("Whole.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", shown);
    expect(reasons).toEqual(reason === undefined ? [] : [reason]);
  });

  it("ends the turn although onExhausted throws", async () => {
    const { die, world } = hanging({
      settings: {
        chatRecovery: {
          maxAttempts: 0,
          terminalMessage: "Enough.",
          onExhausted: () => Promise.reject(new Error("no")),
        },
      },
    });
    await world.write("c1", "Tell");
    await die();
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Once upon\n\nEnough.");
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: "onExhausted" }));
  });

  it.each([
    [{ maxAttemps: 1 }, "maxAttemps"],
    [{ maxAttempts: -1 }, "maxAttempts"],
    [false, "chatRecovery"],
  ])("is a problem of the bot if it is %j", async (chatRecovery, named) => {
    const world = createWorld({ settings: { chatRecovery: chatRecovery as true } });
    expect(await callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem()).toMatchObject({
      message: expect.stringContaining(named) as unknown,
    });
  });
});

describe("onChatRecovery", () => {
  const recovered = async (options: ChatRecoveryOptions | void) => {
    const seen: ChatRecoveryContext[] = [];
    const { die, world } = hanging({
      hooks: {
        onChatRecovery: (context) => {
          seen.push(context);
          return options;
        },
      },
      settings: { chatRecovery: { terminalMessage: "Gone." } },
    });
    const before = Date.now();
    await world.write("c1", "Tell");
    await die();
    world.script(() => [say(" a time.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    return { before, seen, world };
  };

  it("is told of the interruption, and begins the call anew by default", async () => {
    const { before, seen, world } = await recovered();
    await world.shows("c1", " a time.".trim());
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      attempt: 1,
      maxAttempts: 12,
      recoveryKind: "continue",
      partialText: "Once upon",
    });
    expect(seen[0]?.incidentId).toBe(seen[0]?.requestId);
    expect(seen[0]?.createdAt).toBeGreaterThanOrEqual(before);
    expect(seen[0]?.createdAt).toBeLessThanOrEqual(Date.now());
  });

  it("lets the model go on with its text so far", async () => {
    const { world } = await recovered({ persist: true });
    await world.shows("c1", "Once upon a time.");
    expect(JSON.stringify(world.requests.at(-1)?.prompt)).toContain("Once upon");
  });

  it("ends the turn", async () => {
    const { world } = await recovered({ continue: false });
    await world.shows("c1", "Once upon\n\nGone.");
    expect(world.requests).toHaveLength(1);
  });

  it("is not called for a call that failed and is made again", async () => {
    const seen: ChatRecoveryContext[] = [];
    let calls = 0;
    const world = createWorld({
      messenger: { delivery: unlimited },
      hooks: { onChatRecovery: (context) => void seen.push(context) },
      script: () => {
        calls += 1;
        return calls === 1 ? [say("Once"), failWith(new TypeError("fetch failed"))] : [say("Whole.")];
      },
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "Whole.");
    expect(seen).toEqual([]);
  });
});

describe("an error of the model", () => {
  /** A bot whose model refuses everything after a long conversation, unless that is summarized. */
  const refusing = async (error: Error, options: WorldOptions): Promise<World> => {
    const world = createWorld({
      messenger: { delivery: { ...unlimited, errorResponseText: "Sorry." } },
      ...options,
      settings: { maxContextTokens: 3000, ...options.settings },
      script: () => [say("word ".repeat(200))],
    });
    for (let turn = 0; turn < 6; turn += 1) {
      await world.write("c1", `question ${turn}`);
      await expect.poll(() => world.chats.visible("c1").length).toBe(turn + 1);
    }
    world.script(({ isStreamed, prompt }) => {
      if (!isStreamed) return [say("SUMMARY of what was said")];
      return [JSON.stringify(prompt).includes("SUMMARY") ? say("Short again.") : failWith(error)];
    });
    await world.write("c1", "the last one");
    return world;
  };
  const refused = Object.assign(new Error("zu viele Zeichen"), { statusCode: 400 });
  const overflow = Object.assign(new Error("prompt is too long"), { statusCode: 400 });

  it("is an overflow if classifyChatError says so: the transcript is summarized", async () => {
    const seen: [unknown, ChatErrorContext][] = [];
    const world = await refusing(refused, {
      hooks: {
        classifyChatError: (error, context) => {
          seen.push([error, context]);
          return error instanceof Error && error.message.includes("zu viele")
            ? "context_overflow"
            : undefined;
        },
      },
    });
    await expect.poll(() => world.chats.visible("c1").at(-1)).toBe("Short again.");
    expect(seen).toEqual([[refused, expect.objectContaining({ stage: "stream", messagesPersisted: true })]]);
  });

  it("ends the turn if overflows are not to be mended, and onChatError knows the kind", async () => {
    const kinds: unknown[] = [];
    const world = await refusing(overflow, {
      settings: { contextOverflow: { reactive: false } },
      hooks: { onChatError: (_error, { classification }) => void kinds.push(classification) },
    });
    await expect.poll(() => world.chats.visible("c1").at(-1)).toBe("Sorry.");
    expect(kinds).toEqual(["context_overflow"]);
  });

  it("tells onChatError the kind of an overflow that no summary could mend", async () => {
    const kinds: unknown[] = [];
    const world = createWorld({
      messenger: { delivery: { ...unlimited, errorResponseText: "Sorry." } },
      hooks: { onChatError: (_error, { classification }) => void kinds.push(classification) },
      script: ({ isStreamed }) => [isStreamed ? failWith(overflow) : say("SUMMARY")],
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "Sorry.");
    expect(kinds).toEqual(["context_overflow"]);
  });

  it.each([
    ["transient", 2, "Whole."],
    ["fatal", 1, "Once\n\nCut."],
  ] as const)("that is %s makes %i calls", async (kind, count, shown) => {
    const error = kind === "fatal" ? new TypeError("fetch failed") : refused;
    let calls = 0;
    const world = createWorld({
      messenger: { delivery: { ...unlimited, interruptedResponseText: "Cut." } },
      hooks: { classifyChatError: () => kind },
      script: () => {
        calls += 1;
        return calls === 1 ? [say("Once"), failWith(error)] : [say("Whole.")];
      },
    });
    await world.write("c1", "Tell");
    await world.shows("c1", shown);
    expect(calls).toBe(count);
  });

  it.each([
    [{ proactive: { maxInputTokens: 0 } }, "a number above 0"],
    [{ maxRetries: 3 }, "from 0 to 1"],
  ])("is not handled with %j, which /health says", async (contextOverflow, named) => {
    const world = createWorld({ settings: { contextOverflow } });
    expect(await callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem()).toMatchObject({
      message: expect.stringContaining(named) as unknown,
    });
  });
});

describe("repairInterruptedToolPart", () => {
  it.each([
    ["changes what the model reads", false],
    ["leaves the failed call if it throws", true],
  ])("%s", async (_what, throws) => {
    const gate = createGate();
    const world = createWorld({
      getTools: () => ({
        ask_user: tool({ inputSchema: z.object({ prompt: z.string() }), execute: () => gate.pass() }),
      }),
      settings: {
        repairInterruptedToolPart: (part) => {
          if (throws) throw new Error("no");
          const input = "input" in part ? (part.input as { readonly prompt?: string }) : undefined;
          return part.type === "tool-ask_user" ? { type: "text", text: input?.prompt ?? "" } : part;
        },
      },
      script: ({ prompt }) => {
        if (prompt.length < 3) return [callTool("ask_user", { prompt: "Which size?" })];
        return [say(JSON.stringify(prompt).includes("was interrupted") ? "It failed." : "You were asked.")];
      },
    });
    await world.write("c1", "Go");
    await untilReached(gate);
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", throws ? "It failed." : "You were asked.");
    expect(log.some(({ event }) => event === "bot.failed")).toBe(throws);
  });
});
