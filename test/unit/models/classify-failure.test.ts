import { APICallError, LoadAPIKeyError, TypeValidationError } from "@ai-sdk/provider";
import fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { classifyFailure, defaultContextOverflowClassifier } from "../../../src/models/classify-failure.ts";
import { guardModel } from "../../../src/models/guard-model.ts";
import { ModelCallError } from "../../../src/models/model-call-error.ts";
import { PROMPT, stubModel } from "./stub-model.ts";

function httpError(
  statusCode: number | undefined,
  extra: Partial<ConstructorParameters<typeof APICallError>[0]> = {},
) {
  return new APICallError({
    message: "the server's own words",
    url: "https://api.example.test/v1",
    requestBodyValues: {},
    statusCode,
    ...extra,
  });
}

function openaiError(statusCode: number, code: string, message = "words") {
  return httpError(statusCode, { data: { error: { message, type: "invalid_request_error", code } } });
}

describe("classifyFailure", () => {
  const table: readonly (readonly [string, unknown, string, boolean])[] = [
    ["401", httpError(401), "model-unauthorized", false],
    ["403", httpError(403), "model-unauthorized", false],
    ["429", httpError(429), "model-rate-limited", true],
    ["429 without quota", openaiError(429, "insufficient_quota"), "model-rate-limited", false],
    ["408", httpError(408), "model-overloaded", true],
    ["500", httpError(500), "model-overloaded", true],
    ["529", httpError(529), "model-overloaded", true],
    ["404", openaiError(404, "model_not_found"), "model-rejected", false],
    ["400", httpError(400), "model-rejected", false],
    ["no key set", new LoadAPIKeyError({ message: "API key is missing" }), "model-unauthorized", false],
    [
      "refused connection",
      httpError(undefined, { message: "Cannot connect to API: connect ECONNREFUSED" }),
      "model-unreachable",
      true,
    ],
    [
      "Node's fetch",
      new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ENOTFOUND" }) }),
      "model-unreachable",
      true,
    ],
    ["workerd's fetch", new Error("Network connection lost."), "model-unreachable", true],
    ["OpenAI's overflow", openaiError(400, "context_length_exceeded"), "context-overflow", false],
    [
      "vLLM's overflow",
      httpError(400, { message: "This model's maximum context length is 4096 tokens." }),
      "context-overflow",
      false,
    ],
    [
      "Anthropic's overflow",
      httpError(400, { message: "prompt is too long: 210000 tokens > 200000 maximum" }),
      "context-overflow",
      false,
    ],
    [
      "Google's overflow",
      httpError(400, {
        message: "The input token count (9) exceeds the maximum number of tokens allowed (8).",
      }),
      "context-overflow",
      false,
    ],
    [
      "llama.cpp's overflow",
      httpError(400, { message: "the request exceeds the available context size" }),
      "context-overflow",
      false,
    ],
    [
      "a limit of tokens a minute",
      httpError(429, { message: "Request too large: tokens per min. Reduce the length of it." }),
      "model-rate-limited",
      true,
    ],
    [
      "rate limit in the stream",
      { type: "rate_limit_error", message: "slow down" },
      "model-rate-limited",
      true,
    ],
    ["overload in the stream", { type: "overloaded_error", message: "busy" }, "model-overloaded", true],
    ["numeric code in the stream", { code: 502, message: "upstream" }, "model-overloaded", true],
    ["key in the stream", { error: { type: "authentication_error" } }, "model-unauthorized", false],
    [
      "unreadable chunk that speaks of a context window",
      new TypeValidationError({ value: "context window", cause: new Error("x") }),
      "model-failed",
      true,
    ],
    ["anything else", new Error("boom"), "model-failed", true],
  ];
  it.each(table)("knows %s", (_name, error, code, retryable) => {
    expect(classifyFailure(error, false)).toMatchObject({ code, retryable });
    const named = code === "context-overflow" ? "context_overflow" : undefined;
    expect(defaultContextOverflowClassifier(error)).toBe(named);
  });

  it("calls a connection that is lost within an answer cut, not unreachable", () => {
    expect(classifyFailure(new Error("Network connection lost."), true).code).toBe("model-cut");
  });

  it("keeps how long the server asks to wait, within ten minutes", () => {
    const wait = (value: string) =>
      classifyFailure(httpError(429, { responseHeaders: { "retry-after": value } }), false).retryAfterMs;
    expect([wait("7"), wait("999999"), wait("soon")]).toEqual([7000, 600_000, undefined]);
  });

  it("reads a time of day by the server's own clock", () => {
    const wait = (headers: Record<string, string>) =>
      classifyFailure(httpError(503, { responseHeaders: headers }), false).retryAfterMs;
    const until = { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" };
    expect(wait({ ...until, date: "Wed, 21 Oct 2026 07:28:00 GMT" })).toBe(30_000);
    expect(wait({ ...until, date: "Wed, 21 Oct 2026 07:29:00 GMT" })).toBeUndefined();
    expect(wait(until)).toBeUndefined();
    expect(wait({ "retry-after": "" })).toBeUndefined();
  });

  it("has an answer for any value", () => {
    fc.assert(
      fc.property(fc.anything(), fc.boolean(), (value, hasOutput) => {
        expect(classifyFailure(value, hasOutput).code).toMatch(/^(model-[a-z-]+|context-overflow)$/);
      }),
    );
  });

  it("says where to look, with words that the turn engine knows an overflow by", async () => {
    const model = { provider: "p", modelId: "small" };
    expect(new ModelCallError(model, { code: "context-overflow", retryable: false }).message).toMatch(
      /context window/,
    );
    const unknownModel = new ModelCallError(
      model,
      classifyFailure(openaiError(404, "model_not_found"), false),
    );
    expect(unknownModel.message).toBe(
      'The model server rejects the request for model "small"; check MODEL and the base URL. (HTTP 404, model_not_found)',
    );
  });

  const secret = "sk-SECRET-123";
  const leaky: readonly (readonly [string, () => unknown])[] = [
    [
      "an error of the server",
      () =>
        httpError(401, {
          message: `Incorrect API key: ${secret}`,
          url: `https://u:${secret}@h.test/?key=${secret}`,
          responseHeaders: { "x-key": secret, "retry-after": secret },
          responseBody: secret,
          requestBodyValues: { secret },
          data: { error: { code: secret, type: secret } },
          cause: new Error(secret),
        }),
    ],
    ["a network error", () => new TypeError("fetch failed", { cause: new Error(`getaddrinfo ${secret}`) })],
    [
      "an error with fields",
      () => Object.assign(new Error(secret), { code: secret, type: secret, status: secret }),
    ],
    ["a string", () => secret],
  ];
  it.each(leaky)("keeps nothing secret of %s", async (_name, makeError) => {
    const seen: unknown[] = [];
    const options = { onFailure: (error: ModelCallError) => seen.push(error) };
    const thrown = guardModel(
      stubModel(() => Promise.reject(makeError())),
      options,
    );
    seen.push(await thrown.doStream(PROMPT).then(undefined, (error: unknown) => error));
    const sent = guardModel(
      stubModel(() =>
        Promise.resolve({ stream: ReadableStream.from([{ type: "error" as const, error: makeError() }]) }),
      ),
      options,
    );
    for await (const part of (await sent.doStream(PROMPT)).stream) seen.push(part);
    expect(seen).toHaveLength(5);
    expect(inspect(seen, { depth: Infinity, showHidden: true })).not.toContain("SECRET");
  });
});
