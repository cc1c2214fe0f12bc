import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, it } from "vitest";
import { fallbackModel, isFailureOfModel, ModelRests } from "../../../src/models/fallback-model.ts";
import { guardModel } from "../../../src/models/guard-model.ts";
import type { ModelCallError } from "../../../src/models/model-call-error.ts";
import { FakeClock } from "./fake-clock.ts";
import { collect, delta, FINISH, PROMPT, stubModel } from "./stub-model.ts";

type Answer = readonly LanguageModelV4StreamPart[] | Error;

const START: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };
const says = (text: string): Answer => [START, delta(text), FINISH];

function httpError(statusCode: number, message = "m"): Error {
  return new APICallError({ message, url: "https://x.test", requestBodyValues: {}, statusCode });
}

/** Models with one answer after the other each; the last one stays. */
function createRig(
  answers: Readonly<Record<string, readonly Answer[]>>,
  isFailure: (error: ModelCallError) => boolean = isFailureOfModel,
) {
  const clock = new FakeClock();
  const rests = new ModelRests();
  const asked: string[] = [];
  const changes: string[] = [];
  const models = Object.entries(answers).map(([name, list]) => {
    let calls = 0;
    const stub: LanguageModelV4 = stubModel(() => {
      asked.push(name);
      const answer = list[Math.min(calls, list.length - 1)] ?? [];
      calls += 1;
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({
        stream: new ReadableStream({
          start: (controller) => {
            for (const part of answer) controller.enqueue(part);
            controller.close();
          },
        }),
      });
    });
    return guardModel(Object.assign(Object.create(stub) as LanguageModelV4, { modelId: name }), {
      clock,
      mergeMs: 0,
      onFailure: (error) => {
        if (isFailure(error)) rests.failed(error, clock.now());
      },
    });
  });
  const model = fallbackModel(models as [LanguageModelV4, ...LanguageModelV4[]], {
    clock,
    rests,
    isFailure,
    onFallback: (failed, next) => changes.push(`${failed.modelId} ${failed.code} > ${next.modelId}`),
  });
  const ask = async (): Promise<string> => {
    const { stream } = await clock.runUntil(Promise.resolve(model.doStream(PROMPT)));
    const { ended, parts } = collect(stream);
    await ended;
    return parts.map((part) => (part.type === "text-delta" ? part.delta : part.type)).join(" ");
  };
  return { ask, asked, changes, clock, model };
}

it.each([
  ["its key is refused", httpError(401), "model-unauthorized"],
  ["it is overloaded", httpError(529), "model-overloaded"],
  ["it is not known", httpError(404), "model-rejected"],
  ["it cannot be reached", new TypeError("fetch failed"), "model-unreachable"],
])("asks the next model when %s, and shows nothing of the first", async (_why, failed, code) => {
  const { ask, changes } = createRig({ first: [failed], second: [says("Hello")] });
  expect(await ask()).toBe("stream-start Hello finish");
  expect(changes).toEqual([`first ${code} > second`]);
});

it("asks only the first model while it works", async () => {
  const { ask, asked } = createRig({ first: [says("one")], second: [says("two")] });
  expect(await ask()).toContain("one");
  expect(asked).toEqual(["first"]);
});

it("lets a model rest for a minute after a failure, then asks it again", async () => {
  const { ask, asked, clock } = createRig({ first: [httpError(503), says("one")], second: [says("two")] });
  expect(await ask()).toContain("two");
  expect(await ask()).toContain("two");
  expect(asked).toEqual(["first", "second", "second"]);
  await clock.advance(60_000);
  expect(await ask()).toContain("one");
});

it("asks a resting model when the others fail, too", async () => {
  const { ask, asked } = createRig({
    first: [httpError(503), says("one")],
    second: [says("two"), httpError(503)],
  });
  expect(await ask()).toContain("two");
  expect(await ask()).toContain("one");
  expect(asked).toEqual(["first", "second", "second", "first"]);
});

it("passes on what fails after the first word, and then begins with the next model", async () => {
  const broken: Answer = [START, delta("Hel"), { type: "error", error: new Error("cut") }];
  const { ask } = createRig({ first: [broken], second: [says("Hello")] });
  expect(await ask()).toBe("stream-start Hel error finish");
  expect(await ask()).toBe("stream-start Hello finish");
});

it("fails with an error that may pass, if all fail", async () => {
  const { ask } = createRig({ first: [httpError(401)], second: [httpError(503)] });
  await expect(ask()).rejects.toMatchObject({ code: "model-overloaded", modelId: "second" });
  const hopeless = createRig({ first: [httpError(401)], second: [httpError(404)] });
  await expect(hopeless.ask()).rejects.toMatchObject({ code: "model-unauthorized", modelId: "first" });
});

it("does not ask another model about a conversation that is too long", async () => {
  const tooLong = httpError(400, "This model's maximum context length is 8192 tokens");
  const { ask, asked } = createRig({ first: [tooLong], second: [says("two")] });
  await expect(ask()).rejects.toMatchObject({ code: "context-overflow" });
  expect(asked).toEqual(["first"]);
});

it("lets the bot say what counts as a failure", async () => {
  const { ask, asked } = createRig(
    { first: [httpError(401)], second: [says("two")] },
    ({ code }) => code === "model-overloaded",
  );
  await expect(ask()).rejects.toMatchObject({ code: "model-unauthorized" });
  expect(asked).toEqual(["first"]);
});

it("asks no other model after the caller has stopped the call", async () => {
  const stopped = new AbortController();
  const { asked, model } = createRig({ first: [httpError(503)], second: [says("two")] });
  stopped.abort();
  await expect(model.doStream({ ...PROMPT, abortSignal: stopped.signal })).rejects.toMatchObject({
    name: "AbortError",
  });
  expect(asked).toEqual([]);
});
