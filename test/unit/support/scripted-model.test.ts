import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool } from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import {
  callTool,
  cutConnection,
  endWithoutFinish,
  errorInStream,
  failWith,
  holdAt,
  reportUsage,
  say,
  stall,
} from "../../../lab/support/model-script.ts";
import { startScriptedModel, type ScriptedModel } from "../../../lab/support/scripted-model.ts";

let model: ScriptedModel;

beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

function client(): ReturnType<ReturnType<typeof createOpenAICompatible>> {
  return createOpenAICompatible({ name: "scripted", baseURL: model.url, apiKey: "k", includeUsage: true })(
    "scripted",
  );
}

/** Streams one answer; parts of the stream that are errors are collected beside the text. */
async function stream(prompt: string): Promise<{ text: string; errors: unknown[]; finishReason: string }> {
  const errors: unknown[] = [];
  const result = streamText({
    model: client(),
    prompt,
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
  });
  let text = "";
  let finishReason = "none";
  try {
    for await (const part of result.stream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "finish") finishReason = part.finishReason;
    }
  } catch (error) {
    errors.push(error);
  }
  return { text, errors, finishReason };
}

describe("scripted model", () => {
  it("echoes by default, streaming and whole", async () => {
    expect((await stream("hello")).text).toBe("You said: hello");
    expect((await generateText({ model: client(), prompt: "again" })).text).toBe("You said: again");
    expect(model.requests().map((request) => request.stream)).toEqual([true, false]);
  });

  it("sends nothing past a gate until it is opened", async () => {
    const gate = createGate();
    model.script(() => [say("before "), holdAt(gate), say("after")]);
    const answer = stream("x");
    await gate.reached;
    expect((await model.request(0)).sentText).toBe("before ");
    gate.open();
    expect((await answer).text).toBe("before after");
  });

  it("streams the arguments of a tool call and reports usage", async () => {
    model.script(() => [callTool("lookup_order", { id: "1001" }, { chunkSize: 3 }), reportUsage(7, 3)]);
    const lookup = tool({ inputSchema: jsonSchema<{ id: string }>({ type: "object" }) });
    const result = streamText({ model: client(), prompt: "x", tools: { lookup_order: lookup } });
    expect((await result.toolCalls).map((call) => [call.toolName, call.input])).toEqual([
      ["lookup_order", { id: "1001" }],
    ]);
    expect(await result.finishReason).toBe("tool-calls");
    expect(await result.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
    expect(model.requests()[0]?.tools).toEqual(["lookup_order"]);
  });

  it("refuses with a status before the first byte", async () => {
    model.script(() => [failWith(503, "busy")]);
    const { errors } = await stream("x");
    expect(errors).toMatchObject([{ statusCode: 503 }]);
    expect(model.requests()[0]?.state).toBe("failed");
  });

  it("sends an error in the middle of a stream", async () => {
    model.script(() => [say("half"), errorInStream("boom")]);
    const { text, errors } = await stream("x");
    expect(text).toBe("half");
    expect(errors).toHaveLength(1);
  });

  it("cuts the connection after what was said", async () => {
    model.script(() => [say("half"), cutConnection]);
    const { text, errors } = await stream("x");
    expect(text).toBe("half");
    expect(errors).toHaveLength(1);
  });

  it("ends without a finish reason", async () => {
    model.script(() => [say("half"), endWithoutFinish]);
    const { text, finishReason } = await stream("x");
    expect(text).toBe("half");
    expect(finishReason).not.toBe("stop");
  });

  it("notices that the client left a stalled stream", async () => {
    model.script(() => [say("half"), stall]);
    const abort = new AbortController();
    const result = streamText({ model: client(), prompt: "x", abortSignal: abort.signal });
    const reading = result.consumeStream();
    const request = await model.request(0);
    abort.abort();
    await reading;
    await request.ended;
    expect(request.state).toBe("client-left");
  });

  it.each([
    ["continue", "world"],
    ["restart", "Hello world"],
  ] as const)("meets a partial answer in mode %s", async (mode, expected) => {
    model.onPartial(mode);
    model.script(() => [say("Hello "), say("world")]);
    const response = await fetch(`${model.url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({
        model: "scripted",
        messages: [
          { role: "user", content: "greet" },
          { role: "assistant", content: "Hello " },
        ],
      }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: expected } }] });
  });
});
