import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { APICallError } from "@ai-sdk/provider";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { hasToolCall, jsonSchema, Output, tool } from "ai";
import type { ToolSet } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { StepContext, ToolCallContext, TurnConfig } from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say, scriptedModel } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
const schema = jsonSchema({ type: "object", properties: { total: { type: "number" } } });
const once: ModelScript = () => [say("Done.")];

/** The options that the first model call of a turn with this config gets. */
async function optionsOf(config: TurnConfig): Promise<LanguageModelV4CallOptions> {
  const seen: LanguageModelV4CallOptions[] = [];
  const world = createWorld({
    hooks: { beforeTurn: () => config },
    getTools: () => ({ look }),
    getModel: () => watched(once, seen),
  });
  await world.write("c1", "Go");
  await world.shows("c1", "Done.");
  const [first] = seen;
  if (first === undefined) throw new Error("no call was made");
  return first;
}

function watched(script: ModelScript, seen: LanguageModelV4CallOptions[]) {
  const model = scriptedModel("bot", script, () => {});
  return {
    ...model,
    doStream: (options: LanguageModelV4CallOptions) => {
      seen.push(options);
      return model.doStream(options);
    },
  };
}

describe("TurnConfig", () => {
  /** Each field, and what the model gets because of it. All of them are set in one turn. */
  const SETTINGS: readonly (readonly [TurnConfig, object])[] = [
    [{ system: "Be brief." }, { prompt: [{ role: "system", content: "Be brief." }, {}] }],
    [{ tools: { extra: look } }, { tools: [{ name: "look" }, { name: "extra" }] }],
    [{ toolChoice: "none" }, { toolChoice: { type: "none" } }],
    [{ maxOutputTokens: 77 }, { maxOutputTokens: 77 }],
    [{ temperature: 0.3 }, { temperature: 0.3 }],
    [{ topP: 0.4 }, { topP: 0.4 }],
    [{ topK: 5 }, { topK: 5 }],
    [{ presencePenalty: 0.6 }, { presencePenalty: 0.6 }],
    [{ frequencyPenalty: 0.7 }, { frequencyPenalty: 0.7 }],
    [{ stopSequences: ["END"] }, { stopSequences: ["END"] }],
    [{ seed: 8 }, { seed: 8 }],
    [{ headers: { "x-team": "9" } }, { headers: { "x-team": "9" } }],
    [{ providerOptions: { a: { b: 1 } } }, { providerOptions: { a: { b: 1 } } }],
    [
      { output: Output.object({ schema }) },
      { responseFormat: { type: "json", schema: { properties: { total: { type: "number" } } } } },
    ],
  ];

  it("reaches the model, field by field", async () => {
    const config = Object.assign({}, ...SETTINGS.map(([fields]) => fields)) as TurnConfig;
    const options = await optionsOf(config);
    for (const [fields, expected] of SETTINGS)
      expect.soft(options, Object.keys(fields).join()).toMatchObject(expected);
  });

  it("has messages and activeTools, which replace what the model would get", async () => {
    const messages = [{ role: "user" as const, content: "Something else" }];
    const options = await optionsOf({ messages, activeTools: ["extra"], tools: { extra: look } });
    expect(options.prompt).toMatchObject([
      { role: "system" },
      { role: "user", content: [{ text: "Something else" }] },
    ]);
    expect(options.tools).toMatchObject([{ name: "extra" }]);
  });

  it("has messages, which stay in front of what the turn adds", async () => {
    const messages = [{ role: "user" as const, content: "Something else" }];
    const world = createWorld({
      hooks: { beforeTurn: () => ({ messages }) },
      getTools: () => ({ look }),
      script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Seen.")] : [callTool("look")]),
    });
    await world.write("c1", "Go");
    await world.shows("c1", "Seen.");
    expect(world.requests.at(-1)?.prompt).toMatchObject([
      { role: "system" },
      { role: "user", content: [{ text: "Something else" }] },
      { role: "assistant", content: [{ type: "tool-call", toolName: "look" }] },
      { role: "tool", content: [{ type: "tool-result", toolName: "look" }] },
    ]);
  });

  it("has messages, which hold what was said before the process died once", async () => {
    const gate = createGate();
    const world = createWorld({
      hooks: { beforeTurn: ({ messages }) => ({ messages: [...messages] }) },
      getTools: () => ({
        look,
        wait: tool({ inputSchema: z.object({}), execute: () => gate.pass().then(() => "waited") }),
      }),
      script: ({ prompt }) => {
        const results = prompt.filter(({ role }) => role === "tool").length;
        return results === 0 ? [callTool("look")] : results === 1 ? [callTool("wait")] : [say("Seen.")];
      },
    });
    await world.write("c1", "Go");
    await untilReached(gate);
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    gate.open();
    await runDurableObjectAlarm(world.thread("c1"));
    await world.shows("c1", "Seen.");
    expect(world.requests.at(-1)?.prompt.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
  });

  it("has model, which answers in place of the bot's", async () => {
    const other = scriptedModel(
      "other",
      () => [say("From the other.")],
      () => {},
    );
    const world = createWorld({ hooks: { beforeTurn: () => ({ model: other }) } });
    await world.write("c1", "Go");
    await world.shows("c1", "From the other.");
    expect(world.requests).toEqual([]);
  });

  it.each<[string, TurnConfig]>([
    ["maxSteps", { maxSteps: 1 }],
    ["stopWhen", { stopWhen: [hasToolCall("other"), hasToolCall("look")] }],
  ])("has %s, which ends the turn after a step", async (_field, config) => {
    const world = createWorld({
      hooks: { beforeTurn: () => config },
      getTools: () => ({ look }),
      messenger: { delivery: { editEveryMs: 0, stepLimitResponseText: "" } },
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("Too far.")] : [say("Looking."), callTool("look")],
    });
    await world.write("c1", "Go");
    await world.shows("c1", "Looking.");
    expect(world.requests).toHaveLength(1);
  });

  it.each([
    ["timeout as a number", { timeout: 40 }, "silent", "model-timeout"],
    ["timeout.totalMs", { timeout: { totalMs: 40 } }, "halfway", "model-timeout"],
    ["timeout.stepMs", { timeout: { stepMs: 40 } }, "halfway", "model-timeout"],
    ["timeout.firstChunkMs", { timeout: { firstChunkMs: 40 }, maxRetries: 0 }, "silent", "model-stalled"],
    ["timeout.chunkMs", { timeout: { chunkMs: 40 }, maxRetries: 0 }, "halfway", "model-stalled"],
    [
      "chatStreamStallTimeoutMs",
      { chatStreamStallTimeoutMs: 40, timeout: { chunkMs: 60_000 }, maxRetries: 0 },
      "halfway",
      "model-stalled",
    ],
  ] as const)("has %s, which ends a model call", async (_field, config, stops, code) => {
    const gate = createGate();
    const world = createWorld({
      hooks: { beforeTurn: () => config },
      script: () => [...(stops === "silent" ? [] : [say("I think")]), holdAt(gate), say(" so.")],
    });
    await world.write("c1", "Go");
    await vi.waitFor(
      () => expect(log).toContainEqual(expect.objectContaining({ event: "model.call-failed", code })),
      8000,
    );
    await vi.waitFor(() => expect(world.chats.visible("c1").join()).toContain("Sorry"), 8000);
    expect(world.requests).toHaveLength(1);
    gate.open();
  });

  it.each<[string, TurnConfig["timeout"]]>([
    ["timeout.toolMs", { toolMs: 30 }],
    ["timeout.tools", { toolMs: 60_000, tools: { hangMs: 30 } }],
  ])("has %s, which stops a tool, and the model reads it", async (_field, timeout) => {
    const gate = createGate();
    let isAborted = false;
    const hang = tool({
      inputSchema: z.object({}),
      execute: async (_input, { abortSignal }) => {
        abortSignal?.addEventListener("abort", () => (isAborted = true));
        await gate.pass();
        return "late";
      },
    });
    const world = createWorld({
      hooks: { beforeTurn: () => (timeout === undefined ? {} : { timeout }) },
      getTools: () => ({ hang }),
      script: ({ prompt }) => {
        const last = prompt.at(-1);
        return last?.role === "tool" ? [say(JSON.stringify(last.content))] : [callTool("hang")];
      },
    });
    await world.write("c1", "Go");
    await vi.waitFor(() => expect(world.chats.visible("c1").join()).toContain("took too long"), 8000);
    expect(isAborted).toBe(true);
    expect(log).toContainEqual(
      expect.objectContaining({ event: "bot.failed", method: "tool hang", code: "tool-timeout" }),
    );
    gate.open();
  });

  it.each([
    [0, 1],
    [1, 2],
  ])("has maxRetries: %s makes %s calls of a model whose server is busy", async (maxRetries, calls) => {
    const url = "https://model.example";
    const busy = new APICallError({ message: "busy", url, requestBodyValues: {}, statusCode: 503 });
    const world = createWorld({
      hooks: { beforeTurn: () => ({ maxRetries }) },
      script: () => [failWith(busy)],
    });
    await world.write("c1", "Go");
    await vi.waitFor(() => expect(world.chats.visible("c1")).not.toEqual([]), 8000);
    expect(world.requests).toHaveLength(calls);
  });
});

describe("StepContext", () => {
  it("has the step with the results of its tools, and facts from the server", async () => {
    const steps: StepContext[] = [];
    const earlier: (readonly StepContext[])[] = [];
    const world = createWorld({
      hooks: {
        onStepFinish: (step) => void steps.push(step),
        beforeStep: ({ steps: before }) => void earlier.push(before),
      },
      getTools: (): ToolSet => ({ look }),
      script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Seen.")] : [callTool("look")]),
    });
    await world.write("c1", "Go");
    await world.shows("c1", "Seen.");
    await vi.waitFor(() => expect(steps).toHaveLength(2), 8000);
    const call = expect.objectContaining({ toolName: "look", input: {} }) as unknown;
    const result = expect.objectContaining({ toolName: "look", input: {}, output: "seen" }) as unknown;
    expect(steps[0]).toMatchObject({
      stepNumber: 0,
      model: { provider: "scripted", modelId: "scripted-1" },
      text: "",
      reasoning: [],
      files: [],
      sources: [],
      toolCalls: [call],
      staticToolCalls: [call],
      dynamicToolCalls: [],
      toolResults: [result],
      staticToolResults: [result],
      dynamicToolResults: [],
      finishReason: "tool-calls",
      usage: { totalTokens: 2 },
      warnings: [],
      request: {},
      turn: { kind: "messages" },
    });
    expect(steps[1]).toMatchObject({ stepNumber: 1, text: "Seen.", toolResults: [], finishReason: "stop" });
    expect(earlier.map((before) => before.length)).toEqual([0, 1]);
    expect(earlier[1]?.[0]?.toolResults).toEqual([result]);
  });

  it("is told once for a step after which the turn ends with its tools", async () => {
    const outputs: unknown[] = [];
    const world = createWorld({
      hooks: {
        beforeTurn: () => ({ stopWhen: hasToolCall("look") }),
        onStepFinish: ({ toolResults }) => void outputs.push(toolResults.map(({ output }) => output)),
      },
      getTools: () => ({ look }),
      script: () => [say("Looking."), callTool("look")],
    });
    await world.write("c1", "Go");
    await world.shows("c1", "Looking.");
    await vi.waitFor(() => expect(outputs).toEqual([["seen"]]), 8000);
  });
});

describe("ToolCallContext", () => {
  it("has the bot's own tools, so that a look at the name gives their input its type", async () => {
    const query = z.object({ query: z.string() });
    const tools = { look, search: tool({ inputSchema: query, execute: () => "found" }) };
    const seen: unknown[] = [];
    const world = createWorld({
      hooks: {
        beforeToolCall: (call) => {
          const own = call as ToolCallContext<typeof tools>;
          if (own.toolName !== "search") return;
          const asked: string = own.input.query;
          seen.push(asked);
        },
      },
      getTools: () => tools,
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("Seen.")] : [callTool("search", { query: "ants" })],
    });
    await world.write("c1", "Go");
    await world.shows("c1", "Seen.");
    expect(seen).toEqual(["ants"]);
  });
});
