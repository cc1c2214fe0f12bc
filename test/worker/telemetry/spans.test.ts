import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import { telemetry } from "../../../src/telemetry/index.ts";
import type { TelemetryOptions } from "../../../src/telemetry/index.ts";
import { readSpans } from "../../support/otlp.ts";
import type { CollectedSpan } from "../../support/otlp.ts";
import { captureLog } from "../support/log-lines.ts";
import { createRefundBot, shown } from "../support/refund-bot.ts";
import { callTool, failWith, holdAt, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

beforeEach(() => void captureLog());
afterEach(() => {
  ScriptedBot.telemetry = undefined;
  vi.restoreAllMocks();
});

interface Exports {
  readonly spans: CollectedSpan[];
  readonly requests: { readonly url: string; readonly headers: Headers; readonly body: string }[];
}

/** Takes the exports of all bots of this test, and answers them with a status. */
function collect(options?: TelemetryOptions, status = 200): Exports {
  ScriptedBot.telemetry = telemetry(options);
  const real = globalThis.fetch;
  const exports: Exports = { spans: [], requests: [] };
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.startsWith("https://collector.example/")) return real(request);
    const body = await request.text();
    exports.requests.push({ url: request.url, headers: request.headers, body });
    if (status === 200) exports.spans.push(...readSpans(body));
    return new Response("{}", { status });
  });
  return exports;
}

function until(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 8000, interval: 20 });
}

function named({ spans }: Exports, name: string): CollectedSpan[] {
  return spans.filter((span) => span.name === name || span.name.startsWith(`${name} `));
}

/** Bots of earlier tests may still work, and export what they do. */
function ofConversation({ spans }: Exports, turn: CollectedSpan | undefined): CollectedSpan[] {
  const id = "gen_ai.conversation.id";
  return spans.filter(({ attributes }) => attributes[id] === turn?.attributes[id]);
}

const SEARCH = tool({
  description: "Searches.",
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => `found ${query}`,
});

describe("the spans of a turn", () => {
  it("are its steps and tools, with the model and its tokens, and no word of anybody", async () => {
    const exports = collect();
    const world = createWorld({
      getTools: () => ({ search: SEARCH }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("The answer")] : [callTool("search", { query: "shoes" })],
    });
    await world.write("c1", "My question");
    await until(() => expect(named(exports, "delivery")).toHaveLength(1));
    await until(() => expect(named(exports, "invoke_agent")).toHaveLength(1));
    const [turn] = named(exports, "invoke_agent");
    const steps = named(exports, "chat");
    const [call] = named(exports, "execute_tool");
    expect(turn).toMatchObject({ name: "invoke_agent ScriptedBot", parentSpanId: undefined });
    expect(turn?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.usage.input_tokens": "2",
      "gen_ai.usage.output_tokens": "2",
      "switchboard.turn.kind": "messages",
      "switchboard.turn.outcome": "done",
    });
    expect(steps.map(({ attributes }) => attributes["switchboard.step"])).toEqual(["0", "1"]);
    expect(steps[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "scripted-1",
      "gen_ai.usage.input_tokens": "1",
    });
    expect(call).toMatchObject({ name: "execute_tool search" });
    expect(call?.attributes).toMatchObject({
      "gen_ai.tool.name": "search",
      "switchboard.tool.outcome": "done",
    });
    const below = [...steps, ...(call === undefined ? [] : [call]), ...named(exports, "delivery")];
    expect(new Set(below.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([turn?.spanId]));
    expect(new Set(ofConversation(exports, turn).map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(exports.spans.map(({ spanId }) => spanId)).size).toBe(exports.spans.length);
    const said = exports.requests.map(({ body }) => body).join("");
    // Ids and hashes may have any letters up to f.
    const words = said.replaceAll(/[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "");
    for (const word of ["My question", "The answer", "shoes", "found", "c1", "ada"])
      expect(words).not.toContain(word);
    expect(exports.requests[0]?.url).toBe("https://collector.example/v1/traces");
    expect(exports.requests[0]?.headers.get("x-key")).toBe("collector-secret");
    expect(said).not.toContain("collector-secret");
  });

  it("hold the texts of a bot that wants it, without its secrets", async () => {
    const exports = collect({ content: true, conversationId: "name" });
    const world = createWorld({
      getTools: () => ({ search: SEARCH }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("The answer")] : [callTool("search", { query: "shoes" })],
    });
    await world.write("c1", "My question about x-key=collector-secret");
    await until(() => expect(named(exports, "invoke_agent")).toHaveLength(1));
    const [first, second] = named(exports, "chat");
    const input = String(first?.attributes["gen_ai.input.messages"]);
    expect(input).toContain("My question");
    expect(input).not.toContain("collector-secret");
    expect(second?.attributes["gen_ai.output.messages"]).toBe(
      '[{"role":"assistant","parts":[{"type":"text","content":"The answer"}]}]',
    );
    expect(named(exports, "execute_tool")[0]?.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"query":"shoes"}',
      "gen_ai.tool.call.result": "found shoes",
    });
    expect(first?.attributes["gen_ai.conversation.id"]).toBe(`${world.root}/thread:fake:fake%3Ac1`);
  });

  it("continue the same trace after the process has died", async () => {
    const exports = collect();
    const gate = createGate();
    const world = createWorld({
      getTools: () => ({ search: SEARCH }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [holdAt(gate)] : [callTool("search", { query: "shoes" })],
    });
    await world.write("c1", "Tell");
    await untilReached(gate);
    await until(() => expect(named(exports, "execute_tool")).toHaveLength(1));
    await runInDurableObject(world.thread("c1"), (_bot, state) => {
      state.abort("killed by a test");
    }).catch(() => undefined);
    world.script(() => [say("A whole answer.")]);
    await runDurableObjectAlarm(world.thread("c1"));
    await until(() => expect(named(exports, "invoke_agent")).toHaveLength(1));
    const [turn] = named(exports, "invoke_agent");
    expect(turn?.attributes["switchboard.turn.restarted"]).toBe(true);
    const traces = ofConversation(exports, turn).map(({ traceId }) => traceId);
    expect(new Set(traces)).toEqual(new Set([turn?.traceId]));
    expect(named(exports, "execute_tool")[0]?.parentSpanId).toBe(turn?.spanId);
    expect(named(exports, "chat")).toHaveLength(2);
  });

  it("say that a model call has failed", async () => {
    const exports = collect();
    const world = createWorld({ script: () => [failWith(new Error("a word of the provider"))] });
    await world.write("c1", "Tell");
    await until(() => expect(named(exports, "invoke_agent")).toHaveLength(1));
    expect(named(exports, "invoke_agent")[0]).toMatchObject({
      isFailed: true,
      attributes: { "switchboard.turn.outcome": "failed" },
    });
    expect(named(exports, "chat")[0]).toMatchObject({
      isFailed: true,
      attributes: { "error.type": "model-failed", "gen_ai.request.model": "scripted-1" },
    });
    expect(exports.requests.map(({ body }) => body).join("")).not.toContain("a word of the provider");
  });
});

it("puts an approved action and its approval below the call that asked", async () => {
  const exports = collect();
  const { effects, world } = createRefundBot();
  await world.write("c1", "Refund 7");
  await shown(world, "Refund order 7?");
  await world.press("c1", "Approve");
  await until(() => expect(effects).toEqual(["7"]));
  await until(() => expect(named(exports, "action")).toHaveLength(2));
  await until(() => expect(named(exports, "approval")).toHaveLength(1));
  const [call] = named(exports, "execute_tool");
  expect(call?.attributes["switchboard.tool.outcome"]).toBe("waiting");
  for (const span of [...named(exports, "action"), ...named(exports, "approval")])
    expect(span).toMatchObject({ parentSpanId: call?.spanId, traceId: call?.traceId });
  expect(named(exports, "approval")[0]?.attributes["switchboard.approval.outcome"]).toBe("approved");
});

it("answers people while the collector refuses everything", async () => {
  const exports = collect({}, 500);
  const world = createWorld();
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  await until(() => expect(exports.requests.length).toBeGreaterThan(0));
  await world.write("c1", "Again");
  await world.shows("c1", "You said: Hello", "You said: Again");
});
