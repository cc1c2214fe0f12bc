import { describe, expect, it } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import { modelFromEnv, type ModelEnvironment } from "../../../src/models/model-from-env.ts";
import { workersAiModel } from "../../../src/models/workers-ai-model.ts";
import { FakeClock } from "./fake-clock.ts";
import { PROMPT } from "./stub-model.ts";

const AI = { run: () => Promise.reject(new Error("not used")) };

describe("modelFromEnv", () => {
  const models: readonly (readonly [string, ModelEnvironment, string, string])[] = [
    [
      "an OpenAI-compatible server",
      { OPENAI_BASE_URL: "http://127.0.0.1:11434/v1", MODEL: "llama" },
      "llama",
      "OpenAI-compatible server at http://127.0.0.1:11434, model llama",
    ],
    [
      "the public OpenAI server",
      { OPENAI_API_KEY: "sk-SECRET", MODEL: "m" },
      "m",
      "OpenAI-compatible server at https://api.openai.com, model m",
    ],
    ["Anthropic", { ANTHROPIC_API_KEY: "sk-SECRET" }, "claude-sonnet-5", "Anthropic, model claude-sonnet-5"],
    [
      "a proxy for Anthropic",
      { ANTHROPIC_API_KEY: "sk-SECRET", ANTHROPIC_BASE_URL: "https://proxy.test/v1" },
      "claude-sonnet-5",
      "Anthropic at https://proxy.test, model claude-sonnet-5",
    ],
    [
      "another model of Anthropic",
      { ANTHROPIC_API_KEY: "sk-SECRET", MODEL: "claude-opus-5" },
      "claude-opus-5",
      "Anthropic, model claude-opus-5",
    ],
    ["Workers AI", { AI }, "@cf/openai/gpt-oss-120b", "Workers AI, model @cf/openai/gpt-oss-120b"],
    [
      "another model of Workers AI",
      { AI, MODEL: "@cf/qwen/qwq-32b" },
      "@cf/qwen/qwq-32b",
      "Workers AI, model @cf/qwen/qwq-32b",
    ],
    [
      "a key before the binding",
      { AI, ANTHROPIC_API_KEY: "sk-SECRET" },
      "claude-sonnet-5",
      "Anthropic, model claude-sonnet-5",
    ],
  ];
  it.each(models)("chooses %s", (_name, env, modelId, describe) => {
    const configured = modelFromEnv(env);
    expect(configured).toMatchObject({ model: { modelId }, describe });
  });

  const mistakes: readonly (readonly [string, ModelEnvironment, string, RegExp])[] = [
    [
      "a server without a model",
      { OPENAI_BASE_URL: "http://h.test/v1" },
      "model-missing",
      /Set it to the id of a model that http:\/\/h\.test serves/,
    ],
    [
      "keys of two providers",
      { OPENAI_API_KEY: "sk-SECRET", ANTHROPIC_API_KEY: "sk-SECRET", MODEL: "m" },
      "model-ambiguous",
      /Keep the ones of one provider/,
    ],
    ["nothing", {}, "model-not-set", /Set OPENAI_BASE_URL/],
    [
      "empty values",
      { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: " ", MODEL: "", OPENAI_BASE_URL: "" },
      "model-not-set",
      /ANTHROPIC_API_KEY/,
    ],
    ["a model without a provider", { MODEL: "gpt" }, "model-provider-missing", /Set OPENAI_BASE_URL/],
    [
      "a base URL that is none",
      { OPENAI_BASE_URL: "localhost", MODEL: "m" },
      "model-base-url-invalid",
      /is not a URL/,
    ],
    [
      "another protocol",
      { OPENAI_BASE_URL: "ftp://h.test", MODEL: "m" },
      "model-base-url-invalid",
      /https:\/\//,
    ],
    [
      "a key in the URL",
      { OPENAI_BASE_URL: "https://u:SECRET@h.test/v1", MODEL: "m" },
      "model-base-url-invalid",
      /variables of their own/,
    ],
    [
      "a query in the URL",
      { OPENAI_BASE_URL: "https://h.test/v1?key=SECRET", MODEL: "m" },
      "model-base-url-invalid",
      /\?/,
    ],
    [
      "a whole endpoint",
      { OPENAI_BASE_URL: "https://h.test/v1/chat/completions", MODEL: "m" },
      "model-base-url-invalid",
      /added to it/,
    ],
    [
      "a Workers AI model at Anthropic",
      { ANTHROPIC_API_KEY: "sk-SECRET", MODEL: "@cf/qwen/qwq-32b" },
      "model-id-invalid",
      /Remove ANTHROPIC_API_KEY/,
    ],
    ["a foreign model at Workers AI", { AI, MODEL: "gpt" }, "model-id-invalid", /@cf\//],
  ];
  it.each(mistakes)("refuses %s with the fix, and without any secret", (_name, env, code, fix) => {
    const error = thrownBy(() => modelFromEnv(env));
    expect(errorCode(error)).toBe(code);
    expect(String(error)).toMatch(fix);
    expect(String(error)).not.toContain("SECRET");
  });

  it("calls the server under its base URL, with the key, through the given fetch", async () => {
    const requests: Request[] = [];
    const { model } = modelFromEnv(
      { OPENAI_BASE_URL: "https://h.test/v1/", OPENAI_API_KEY: "sk-1", MODEL: "m" },
      {
        clock: new FakeClock(),
        fetch: (input, init) => {
          requests.push(new Request(input, init));
          return Promise.resolve(
            Response.json({ choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }),
          );
        },
      },
    );
    if (model.specificationVersion !== "v4") throw new Error("The test knows version 4 only.");
    expect(await model.doGenerate(PROMPT)).toMatchObject({ content: [{ type: "text", text: "hi" }] });
    expect(requests.map((request) => request.url)).toEqual(["https://h.test/v1/chat/completions"]);
    expect(requests[0]?.headers.get("authorization")).toBe("Bearer sk-1");
  });
});

describe("workersAiModel", () => {
  it("needs the binding, and says how to add it", () => {
    const error = thrownBy(() => workersAiModel({}, "@cf/qwen/qwq-32b"));
    expect(errorCode(error)).toBe("model-binding-missing");
    expect(String(error)).toContain('"ai": { "binding": "AI" }');
  });
});

function thrownBy(body: () => unknown): unknown {
  try {
    body();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}
