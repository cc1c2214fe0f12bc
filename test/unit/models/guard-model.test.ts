import { APICallError, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { guardModel, type GuardOptions } from "../../../src/models/guard-model.ts";
import { ModelCallError } from "../../../src/models/model-call-error.ts";
import { FakeClock, settle } from "./fake-clock.ts";
import { collect, delta, fedModel, FINISH, PROMPT, stubModel, USAGE } from "./stub-model.ts";

const ERROR_FINISH = { type: "finish", finishReason: { unified: "error", raw: undefined } };

async function open(options: GuardOptions = {}) {
  const clock = new FakeClock();
  const feed = fedModel();
  const caller = new AbortController();
  const failures: ModelCallError[] = [];
  const guarded = guardModel(feed.model, { clock, onFailure: (error) => failures.push(error), ...options });
  const { stream } = await guarded.doStream({ ...PROMPT, abortSignal: caller.signal });
  return { clock, feed, caller, failures, stream, ...collect(stream) };
}

type Ending = "other" | "error" | "interrupted" | "length";

function finishWith(unified: Ending, raw?: string): LanguageModelV4StreamPart {
  return { type: "finish", finishReason: { unified, raw }, usage: USAGE };
}

describe("guardModel", () => {
  it("passes a whole answer unchanged, but for merged deltas", async () => {
    const { clock, feed, parts, ended, failures } = await open();
    feed.controller.enqueue({ type: "stream-start", warnings: [] });
    feed.controller.enqueue({ type: "text-start", id: "1" });
    for (const word of ["a", "b", "c"]) feed.controller.enqueue(delta(word));
    await settle();
    expect(parts.at(-1)).toEqual(delta("a"));
    feed.controller.enqueue({ type: "text-end", id: "1" });
    feed.controller.enqueue(FINISH);
    feed.controller.close();
    await ended;
    expect(parts).toEqual([
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "1" },
      delta("a"),
      delta("bc"),
      { type: "text-end", id: "1" },
      FINISH,
    ]);
    expect(failures).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("reports an answer that stops at its limit of tokens, which no second try would make longer", async () => {
    const { feed, parts, ended } = await open();
    feed.controller.enqueue(delta("Half an "));
    await settle();
    feed.controller.enqueue(finishWith("length"));
    await ended;
    expect(parts).toMatchObject([
      delta("Half an "),
      { type: "error", error: { code: "model-limit", retryable: false } },
      ERROR_FINISH,
    ]);
  });

  const cuts: readonly (readonly [string, (feed: Awaited<ReturnType<typeof open>>["feed"]) => void])[] = [
    ["without finish", ({ controller }) => controller.close()],
    ["with an unknown reason", ({ controller }) => controller.enqueue(finishWith("other"))],
    ["interrupted", ({ controller }) => controller.enqueue(finishWith("interrupted"))],
    [
      "truncated (Workers AI)",
      ({ controller }) => controller.enqueue(finishWith("error", "stream-truncated")),
    ],
    ["by a lost connection", ({ controller }) => controller.error(new TypeError("terminated"))],
  ];
  it.each(cuts)("reports an answer that ends %s as cut off", async (_name, cut) => {
    const { feed, parts, ended, failures, clock } = await open();
    feed.controller.enqueue(delta("Half an "));
    feed.controller.enqueue(delta("ans"));
    await settle();
    cut(feed);
    await ended;
    expect(parts).toMatchObject([
      delta("Half an "),
      delta("ans"),
      { type: "error", error: { code: "model-cut", retryable: true, provider: "stub", modelId: "stub-1" } },
      ERROR_FINISH,
    ]);
    expect(failures).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("keeps a finish whose reason only the provider knows", async () => {
    const { feed, parts, ended } = await open();
    feed.controller.enqueue(finishWith("other", "max_compute"));
    await ended;
    expect(parts).toEqual([finishWith("other", "max_compute")]);
  });

  it("ends a stream at its first error part, and the request with it", async () => {
    const { feed, parts, ended } = await open();
    feed.controller.enqueue(delta("Half"));
    feed.controller.enqueue({ type: "error", error: { type: "overloaded_error", message: "secret text" } });
    await ended;
    expect(parts).toMatchObject([
      delta("Half"),
      { type: "error", error: { code: "model-overloaded" } },
      ERROR_FINISH,
    ]);
    await settle();
    expect(feed.wasCancelled()).toBe(true);
    expect(feed.signal()?.aborted).toBe(true);
  });

  it("gives up on a model that stands still, and aborts its request", async () => {
    const { clock, feed, parts, failures } = await open({ stallTimeoutMs: 5000 });
    feed.controller.enqueue(delta("Half"));
    await clock.advance(4000);
    feed.controller.enqueue(delta(" an"));
    await clock.advance(4999);
    expect(failures).toEqual([]);
    await clock.advance(1);
    expect(parts).toMatchObject([
      delta("Half"),
      delta(" an"),
      { type: "error", error: { code: "model-stalled", retryable: true } },
      ERROR_FINISH,
    ]);
    expect(feed.signal()?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("waits for ever when it is told so", async () => {
    const { clock, feed, parts, ended } = await open({ stallTimeoutMs: 0 });
    feed.controller.enqueue(delta("Half"));
    await clock.advance(3_600_000);
    feed.controller.enqueue(FINISH);
    await ended;
    expect(parts).toEqual([delta("Half"), FINISH]);
  });

  it("gives up on a server that never answers", async () => {
    const clock = new FakeClock();
    const signals: (AbortSignal | undefined)[] = [];
    const silent = stubModel(({ abortSignal }) => {
      signals.push(abortSignal);
      return new Promise(() => undefined);
    });
    const answer = guardModel(silent, { clock }).doStream(PROMPT);
    answer.then(undefined, () => undefined);
    await clock.advance(119_999);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    await expect(answer).rejects.toMatchObject({ code: "model-stalled" });
    expect(signals[0]?.aborted).toBe(true);
  });

  it("gives a model time before its answer, also one whose server says at once that it has the question", async () => {
    const { clock, feed, parts, failures } = await open({ firstChunkTimeoutMs: 9000, stallTimeoutMs: 2000 });
    feed.controller.enqueue({ type: "stream-start", warnings: [] });
    feed.controller.enqueue({ type: "response-metadata", id: "1" });
    feed.controller.enqueue({ type: "reasoning-start", id: "1" });
    await clock.advance(8999);
    expect(failures).toEqual([]);
    await clock.advance(1);
    expect(parts.at(-2)).toMatchObject({ type: "error", error: { code: "model-stalled" } });
    expect(clock.pending).toBe(0);
  });

  it("counts thinking as speaking: 30 seconds between any two parts are too long", async () => {
    const { clock, feed, parts, failures } = await open();
    await clock.advance(100_000);
    for (let thought = 0; thought < 5; thought += 1) {
      feed.controller.enqueue({ type: "reasoning-delta", id: "1", delta: `thought ${thought}` });
      await clock.advance(29_999);
    }
    expect(failures).toEqual([]);
    await clock.advance(1);
    expect(parts.at(-2)).toMatchObject({ type: "error", error: { code: "model-stalled" } });
    expect(clock.pending).toBe(0);
  });

  it("limits the silence in an answer though none before it is limited", async () => {
    const { clock, feed, failures } = await open({ firstChunkTimeoutMs: 0, stallTimeoutMs: 2000 });
    await clock.advance(3_600_000);
    feed.controller.enqueue(delta("Half"));
    await clock.advance(1999);
    expect(failures).toEqual([]);
    await clock.advance(1);
    expect(failures).toMatchObject([{ code: "model-stalled" }]);
  });

  it("passes the caller's abort on as it is, also from a model that ignores it", async () => {
    const { clock, feed, caller, ended, parts, failures } = await open();
    feed.controller.enqueue(delta("a"));
    feed.controller.enqueue(delta("b"));
    await settle();
    const reason = new DOMException("stopped", "AbortError");
    caller.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(parts[0]).toEqual(delta("a"));
    expect(feed.signal()?.reason).toBe(reason);
    expect(failures).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("passes an abort on that came before the call", async () => {
    const guarded = guardModel(fedModel().model, { clock: new FakeClock() });
    const reason = new Error("too late");
    await expect(guarded.doStream({ ...PROMPT, abortSignal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });

  it("ends the request when nobody reads on", async () => {
    const clock = new FakeClock();
    const feed = fedModel();
    const { stream } = await guardModel(feed.model, { clock }).doStream(PROMPT);
    await stream.cancel("enough");
    expect(feed.wasCancelled()).toBe(true);
    expect(feed.signal()?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("limits and explains calls that are not streamed", async () => {
    const clock = new FakeClock();
    const hanging = { ...fedModel().model, doGenerate: () => new Promise<never>(() => undefined) };
    const stalled = guardModel(hanging, { clock }).doGenerate(PROMPT);
    stalled.then(undefined, () => undefined);
    await clock.advance(300_000);
    await expect(stalled).rejects.toMatchObject({ code: "model-stalled" });
    const failing = guardModel(
      stubModel(() => Promise.reject(new Error("not used"))),
      { clock },
    );
    await expect(failing.doGenerate(PROMPT)).rejects.toBeInstanceOf(ModelCallError);
    expect(clock.pending).toBe(0);
  });

  it("is not retried by the AI SDK", async () => {
    let calls = 0;
    const overloaded = stubModel(() => {
      calls += 1;
      const error = new APICallError({
        message: "m",
        url: "https://x.test",
        requestBodyValues: {},
        statusCode: 503,
      });
      return Promise.reject(error);
    });
    const errors: unknown[] = [];
    const result = streamText({
      model: guardModel(overloaded),
      prompt: "hi",
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    await result.consumeStream();
    expect(calls).toBe(1);
    expect(errors).toMatchObject([{ code: "model-overloaded", status: 503, retryable: true }]);
  });

  it("runs no tool of an answer that was cut off", async () => {
    let runs = 0;
    const feed = fedModel();
    feed.controller.enqueue({ type: "tool-call", toolCallId: "1", toolName: "pay", input: "{}" });
    feed.controller.close();
    const result = streamText({
      model: guardModel(feed.model),
      prompt: "hi",
      stopWhen: stepCountIs(3),
      onError: () => undefined,
      tools: {
        pay: tool({
          inputSchema: z.object({}),
          execute: () => {
            runs += 1;
            return "paid";
          },
        }),
      },
    });
    await result.consumeStream();
    expect(runs).toBe(0);
  });
});
