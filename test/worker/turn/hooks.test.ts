import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { hasToolCall, tool } from "ai";
import type { ToolSet } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type {
  ChatResponseResult,
  ThinkHooks,
  ToolCallContext,
  ToolCallResultContext,
} from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { createRefundBot } from "../support/refund-bot.ts";
import { callTool, failWith, holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const inputSchema = z.object({ n: z.number().optional() });
const silent = { onStart: () => {}, onEvent: () => {}, onDone: () => {}, onError: () => {} };

/** Calls these tools in one step, then says what they returned. */
function calls(...names: readonly string[]): ModelScript {
  return ({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role !== "tool") return names.map((name, n) => callTool(name, { n }));
    const outputs = last.content.map((part) =>
      part.type === "tool-result" && "value" in part.output ? part.output.value : "",
    );
    return [say(`Results: ${outputs.map(String).join(", ")}`)];
  };
}

/** A bot with one tool, which returns the input that it gets. */
function echoing(hooks: Partial<ThinkHooks>, script = calls("echo")): World {
  return createWorld({
    hooks,
    script,
    getTools: () => ({ echo: tool({ inputSchema, execute: ({ n }) => `echo ${n}` }) }),
  });
}

describe("beforeToolCall", () => {
  it.each([
    ["runs the tool", undefined, "echo 0"],
    ["changes the input", { action: "allow", input: { n: 7 } }, "echo 7"],
    ["blocks the call, with a reason for the model", { action: "block", reason: "not today" }, "not today"],
    ["answers in the tool's place", { action: "substitute", output: "cached" }, "cached"],
  ] as const)("%s", async (_what, decision, shown) => {
    const seen: ToolCallContext[] = [];
    const ended: ToolCallResultContext[] = [];
    const world = echoing({
      beforeToolCall: (call) => {
        seen.push(call);
        return decision;
      },
      afterToolCall: (call) => void ended.push(call),
    });
    await world.write("c1", "Go");
    await world.shows("c1", `Results: ${shown}`);
    expect(seen).toEqual([
      expect.objectContaining({
        toolName: "echo",
        toolCallId: expect.stringMatching(/^call-/) as unknown,
        input: { n: 0 },
        stepNumber: 0,
        attempt: 1,
        messages: [expect.objectContaining({ role: "user" })],
        turn: expect.objectContaining({
          kind: "messages",
          authors: [expect.objectContaining({ userId: "ada" })],
        }) as unknown,
      }),
    ]);
    const { messages } = seen[0] ?? {};
    expect(JSON.stringify(messages)).toContain("Go");
    expect(ended).toEqual([
      expect.objectContaining({ success: true, output: shown, toolName: "echo", messages }),
    ]);
  });

  it("keeps the tool from running when it throws, ends nothing, and is logged (I10)", async () => {
    let runs = 0;
    const world = createWorld({
      hooks: {
        beforeToolCall: () => {
          throw new Error("secret of the guard");
        },
      },
      getTools: () => ({ pay: tool({ inputSchema, execute: () => (runs += 1) }) }),
      script: calls("pay"),
    });
    await world.write("c1", "Pay");
    await world.shows("c1", "Results: The tool failed. Its log says why.");
    expect(runs).toBe(0);
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: "beforeToolCall" }));
    expect(JSON.stringify(log)).not.toContain("secret of the guard");
  });

  it("hears the tool's own error afterwards, which neither the model nor the chat reads (I10)", async () => {
    const errors: unknown[] = [];
    const world = createWorld({
      hooks: { afterToolCall: ({ error, success }) => void errors.push([success, (error as Error).message]) },
      getTools: () => ({
        pay: tool({
          inputSchema,
          execute: (): string => {
            throw new Error("card 4711 refused");
          },
        }),
      }),
      script: calls("pay"),
    });
    await world.write("c1", "Pay");
    await world.shows("c1", "Results: The tool failed. Its log says why.");
    expect(errors).toEqual([[false, "card 4711 refused"]]);
  });
});

describe("the calls of one step", () => {
  it("run one after the other, in their order; those that only read run beside them", async () => {
    const order: string[] = [];
    const gates = { first: createGate(), look: createGate() };
    const effect = (name: string, gate = { pass: () => Promise.resolve() }) =>
      tool({
        inputSchema,
        execute: async () => {
          order.push(`${name} begins`);
          await gate.pass();
          order.push(`${name} ends`);
          return name;
        },
      });
    const world = createWorld({
      getTools: (): ToolSet => ({
        first: effect("first", gates.first),
        second: effect("second"),
        look: Object.assign(effect("look", gates.look), { annotations: { readOnly: true } }),
      }),
      script: calls("first", "second", "look"),
    });
    await world.write("c1", "Go");
    await untilReached(gates.first);
    await untilReached(gates.look);
    gates.look.open();
    await vi.waitFor(() => expect(order).toContain("look ends"), 8000);
    expect([...order].sort()).toEqual(["first begins", "look begins", "look ends"]);
    gates.first.open();
    await world.shows("c1", "Results: first, second, look");
    expect(order.filter((entry) => !entry.startsWith("look"))).toEqual([
      "first begins",
      "first ends",
      "second begins",
      "second ends",
    ]);
  });

  it("are reported as interrupted after a crash only where they had begun", async () => {
    const gate = createGate();
    const runs: string[] = [];
    const effect = (name: string, pass: () => Promise<void>) =>
      tool({
        inputSchema,
        execute: async () => {
          runs.push(name);
          await pass();
          return name;
        },
      });
    const attempts: number[] = [];
    const world = createWorld({
      hooks: { beforeToolCall: ({ attempt }) => void attempts.push(attempt) },
      getTools: () => ({
        first: effect("first", () => (runs.length === 1 ? gate.pass() : Promise.resolve())),
        second: effect("second", () => Promise.resolve()),
      }),
      script: calls("first", "second"),
    });
    await world.write("c1", "Go");
    await untilReached(gate);
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows(
      "c1",
      "Results: The tool call was interrupted before it finished, because the agent restarted. It may or may not have taken effect., second",
    );
    expect(runs).toEqual(["first", "second"]);
    expect(attempts).toEqual([1, 2]);
  });
});

describe("beforeTurn and beforeStep", () => {
  it("change what the model gets: prompt, tools, steps", async () => {
    const extra = tool({ inputSchema, execute: () => "from the turn" });
    const systems: string[] = [];
    const world = createWorld({
      hooks: {
        beforeTurn: ({ system, turn }) => {
          systems.push(`${system} ${turn?.kind}`);
          return { system: "Be brief.", tools: { extra }, maxSteps: 1 };
        },
        beforeStep: ({ stepNumber }) => ({ activeTools: stepNumber === 0 ? ["extra"] : [] }),
      },
      getTools: () => ({ own: tool({ inputSchema, execute: () => "own" }) }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("never asked again")] : [say("Let me see."), callTool("extra")],
    });
    await world.write("c1", "Go");
    await expect
      .poll(() => world.chats.visible("c1").join())
      .toMatch(/^Let me see\.\n\nI've taken as many steps/);
    expect(systems).toEqual(["You are a test. messages"]);
    expect(world.requests).toHaveLength(1);
    expect(world.requests[0]?.tools).toEqual(["extra"]);
    expect(world.requests[0]?.prompt[0]).toMatchObject({ role: "system", content: "Be brief." });
  });

  it("ends a turn after the step that a stop condition names", async () => {
    const world = echoing({ beforeTurn: () => ({ stopWhen: hasToolCall("echo") }) }, ({ prompt }) =>
      prompt.at(-1)?.role === "tool" ? [say("too far")] : [say("Here."), callTool("echo")],
    );
    await world.write("c1", "Go");
    await world.shows("c1", "Here.");
    expect(world.requests).toHaveLength(1);
  });

  it.each([
    "beforeTurn",
    "beforeStep",
    "onStepFinish",
    "onChunk",
    "afterToolCall",
    "onChatResponse",
  ] as const)("a throwing %s ends nothing, and is logged (I10)", async (name) => {
    const world = echoing({
      [name]: () => {
        throw new Error("secret of the hook");
      },
    });
    await world.write("c1", "Go");
    await world.shows("c1", "Results: echo 0");
    await vi.waitFor(
      () => expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: name })),
      8000,
    );
    expect(log.filter(({ method }) => method === "onChunk").length).toBeLessThanOrEqual(1);
    expect(JSON.stringify(log)).not.toContain("secret of the hook");
  });
});

describe("onStepFinish and onChunk", () => {
  it("see each step and each piece, in messengers and in chat()", async () => {
    const steps: unknown[] = [];
    const chunks: string[] = [];
    const world = echoing({
      onStepFinish: ({ finishReason, stepNumber, text, toolCalls, usage }) =>
        void steps.push([
          stepNumber,
          text,
          toolCalls.map(({ toolName }) => toolName),
          finishReason,
          usage.inputTokens,
        ]),
      onChunk: ({ chunk }) => void chunks.push(chunk.type),
    });
    const expected = [
      [0, "", ["echo"], "tool-calls", 1],
      [1, "Results: echo 0", [], "stop", 1],
    ];
    await world.write("c1", "Go");
    await world.shows("c1", "Results: echo 0");
    expect(steps).toEqual(expected);
    expect(chunks).toEqual(expect.arrayContaining(["tool-call", "text-delta"]));
    await world.thread("c1").chat("Go", silent);
    expect(steps).toEqual([...expected, ...expected]);
  });
});

describe("onChatResponse and onChatError", () => {
  it("tell of each turn once: the answer, its kind, how it ended", async () => {
    const results: ChatResponseResult[] = [];
    const errors: unknown[] = [];
    const world = createWorld({
      hooks: {
        onChatResponse: (result) => void results.push(result),
        onChatError: (_error, { messagesPersisted, stage }) => {
          errors.push([stage, messagesPersisted]);
          return new Error("a word for the dashboard");
        },
      },
      script: ({ said }) => (said === "fail" ? [failWith(new Error("secret"))] : [say(`You said: ${said}`)]),
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    const { requestId } = await world.thread("c1").saveMessages("fail");
    await vi.waitFor(() => expect(results).toHaveLength(2), 8000);
    expect(results[0]).toMatchObject({ status: "completed", turn: { kind: "messages" } });
    expect(results[0]?.message.parts).toContainEqual(expect.objectContaining({ text: "You said: Hello" }));
    expect(results[1]).toMatchObject({
      requestId,
      status: "error",
      error: "a word for the dashboard",
      turn: { kind: "prompt" },
    });
    expect(errors).toEqual([["stream", true]]);
  });

  it("tell that no new question began a turn about an outcome", async () => {
    const told: unknown[] = [];
    const { world } = createRefundBot(
      {},
      {
        hooks: {
          beforeTurn: ({ continuation, turn }) => void told.push([turn?.kind, continuation]),
          onChatResponse: ({ continuation, turn }) => void told.push([turn?.kind, continuation]),
        },
      },
    );
    await world.write("c1", "Refund 7");
    await vi.waitFor(() => expect(told).toHaveLength(2), 8000);
    await world.press("c1", "Approve");
    await vi.waitFor(() => expect(told).toHaveLength(4), 8000);
    const [asked, outcome] = [
      ["messages", false],
      ["outcome", true],
    ];
    expect(told).toEqual([asked, asked, outcome, outcome]);
  });

  it("tells of a turn whose process died before the hook had returned", async () => {
    const gate = createGate();
    const results: string[] = [];
    const world = createWorld({
      hooks: {
        onChatResponse: async ({ status }) => {
          results.push(status);
          if (results.length === 1) await gate.pass();
        },
      },
    });
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    await untilReached(gate);
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    await runDurableObjectAlarm(world.thread("c1"));
    await vi.waitFor(() => expect(results).toEqual(["completed", "completed"]), 8000);
    await world.write("c1", "Again");
    await world.shows("c1", "You said: Hello", "You said: Again");
    await vi.waitFor(() => expect(results).toHaveLength(3), 8000);
  });

  it("says that a turn was stopped", async () => {
    const gate = createGate();
    const results: string[] = [];
    const world = createWorld({
      hooks: { onChatResponse: ({ status }) => void results.push(status) },
      script: () => [say("Once upon"), holdAt(gate)],
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await world.write("c1", "/stop");
    await vi.waitFor(() => expect(results).toEqual(["aborted"]), 8000);
    gate.open();
  });
});
