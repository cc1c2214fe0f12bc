import { streamText } from "ai";
import { describe, expect, it } from "vitest";
import { guardModel } from "../../../src/models/guard-model.ts";
import { modelFromEnv, type ModelEnvironment } from "../../../src/models/model-from-env.ts";
import { FakeClock } from "./fake-clock.ts";

const OPENAI = { OPENAI_BASE_URL: "https://h.test/v1", OPENAI_API_KEY: "sk-SECRET", MODEL: "m" };
const ANTHROPIC = { ANTHROPIC_API_KEY: "sk-SECRET", MODEL: "claude-sonnet-5" };

function sse(...events: readonly (object | string)[]): Response {
  const lines = events.map(
    (event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`,
  );
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
}

/** What the provider's real code makes of an answer, through the guard and the AI SDK. */
async function answer(env: ModelEnvironment, respond: () => Response | Promise<Response>) {
  let calls = 0;
  const fetch = () => {
    calls += 1;
    return Promise.resolve(respond());
  };
  const { model } = modelFromEnv(env, { clock: new FakeClock(), fetch });
  const errors: unknown[] = [];
  const result = streamText({
    model: guardModel(model, { clock: new FakeClock() }),
    prompt: "hi",
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  let text = "";
  for await (const delta of result.textStream) text += delta;
  return { text, errors, calls };
}

const openaiDelta = (content: string, finish: string | null = null) => ({
  choices: [{ delta: { content }, finish_reason: finish }],
});
const anthropicStart = [
  {
    type: "message_start",
    message: {
      id: "1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half an " } },
];

describe("real providers through the guard", () => {
  it("streams a whole answer of an OpenAI-compatible server", async () => {
    const whole = () => sse(openaiDelta("Hello "), openaiDelta("there", "stop"), "[DONE]");
    expect(await answer(OPENAI, whole)).toEqual({ text: "Hello there", errors: [], calls: 1 });
  });

  const failures: readonly (readonly [
    string,
    ModelEnvironment,
    () => Response | Promise<Response>,
    string,
    string,
  ])[] = [
    [
      "an OpenAI stream without a finish reason",
      OPENAI,
      () => sse(openaiDelta("Half an "), "[DONE]"),
      "Half an ",
      "model-cut",
    ],
    [
      "an OpenAI stream with an error in it",
      OPENAI,
      () => sse(openaiDelta("Half an "), { error: { message: "x", type: "server_error" } }),
      "Half an ",
      "model-overloaded",
    ],
    [
      "an OpenAI stream that is no JSON",
      OPENAI,
      () => sse(openaiDelta("Half an "), "{oops"),
      "Half an ",
      "model-failed",
    ],
    [
      "an OpenAI server with a wrong key",
      OPENAI,
      () => Response.json({ error: { message: "Incorrect API key: sk-SECRET" } }, { status: 401 }),
      "",
      "model-unauthorized",
    ],
    [
      "an OpenAI server that is overloaded",
      OPENAI,
      () => new Response("busy", { status: 503 }),
      "",
      "model-overloaded",
    ],
    ["an OpenAI server that answers a web page", OPENAI, () => new Response("<html>"), "", "model-cut"],
    [
      "an OpenAI server out of reach",
      OPENAI,
      () => Promise.reject(new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })),
      "",
      "model-unreachable",
    ],
    [
      "an overlong OpenAI prompt",
      OPENAI,
      () => Response.json({ error: { message: "x", code: "context_length_exceeded" } }, { status: 400 }),
      "",
      "context-overflow",
    ],
    ["an Anthropic stream that breaks off", ANTHROPIC, () => sse(...anthropicStart), "Half an ", "model-cut"],
    [
      "an Anthropic stream with an error in it",
      ANTHROPIC,
      () => sse(...anthropicStart, { type: "error", error: { type: "overloaded_error", message: "x" } }),
      "Half an ",
      "model-overloaded",
    ],
    [
      "an Anthropic server with a wrong key",
      ANTHROPIC,
      () =>
        Response.json(
          { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
          { status: 401 },
        ),
      "",
      "model-unauthorized",
    ],
    [
      "a Workers AI stream that breaks off",
      { AI: { run: () => Promise.resolve(sse({ response: "Half an " }).body) } },
      () => new Response(),
      "Half an ",
      "model-cut",
    ],
    [
      "a Workers AI binding without capacity",
      {
        AI: { run: () => Promise.reject(new Error("3040: No more data centers to forward the request to")) },
      },
      () => new Response(),
      "",
      "model-rate-limited",
    ],
  ];
  it.each(failures)("knows %s", async (_name, env, respond, text, code) => {
    const outcome = await answer(env, respond);
    expect(outcome.errors).toMatchObject([{ name: "ModelCallError", code }]);
    expect(outcome.text).toBe(text);
    expect(outcome.calls).toBeLessThanOrEqual(1);
    expect(JSON.stringify(outcome.errors)).not.toContain("SECRET");
  });
});
