import { APICallError, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, it } from "vitest";
import type { PassingFailure } from "../../../src/core/turn/model-patience.ts";
import { guardModel } from "../../../src/models/guard-model.ts";
import { patientModel } from "../../../src/models/patient-model.ts";
import { FakeClock, settle } from "./fake-clock.ts";
import { collect, delta, FINISH, PROMPT, stubModel } from "./stub-model.ts";

type Answer = readonly LanguageModelV4StreamPart[] | Error;

const START: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };
const OVERLOADED: LanguageModelV4StreamPart = { type: "error", error: { type: "overloaded_error" } };

function httpError(statusCode: number, responseHeaders: Record<string, string> = {}): Error {
  return new APICallError({
    message: "m",
    url: "https://x.test",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  });
}

/** A model that gives one answer after the other, and a turn that waits a second for each. */
function createRig(answers: readonly Answer[], { waits = 10 } = {}) {
  const clock = new FakeClock();
  const failures: PassingFailure[] = [];
  let calls = 0;
  let ends = 0;
  const stub = stubModel(() => {
    const answer = answers[calls] ?? [];
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
  const patience = {
    answersBy: undefined,
    next: (failure: PassingFailure) => {
      failures.push(failure);
      return failures.length > waits ? undefined : 1000;
    },
    end: () => void (ends += 1),
  };
  const model = patientModel(guardModel(stub, { clock, mergeMs: 0 }), patience, clock);
  const ask = () => clock.runUntil(Promise.resolve(model.doStream(PROMPT)));
  return { ask, clock, failures, model, calls: () => calls, ends: () => ends };
}

it.each<[string, Answer]>([
  ["is refused", httpError(503)],
  ["fails after its opening", [START, OVERLOADED]],
  ["ends before it has said anything", [START]],
  ["cannot be reached", new TypeError("fetch failed")],
])("makes a call again that %s, and shows nothing of the failed one", async (_name, failed) => {
  const { ask, ends, failures } = createRig([failed, failed, [START, delta("Hello"), FINISH]]);
  const { stream } = await ask();
  const { ended, parts } = collect(stream);
  await ended;
  expect(parts).toEqual([START, delta("Hello"), FINISH]);
  expect(failures.map(({ beganAt }) => beganAt - (failures[0]?.beganAt ?? 0))).toEqual([0, 1000]);
  expect(ends()).toBe(1);
});

it("passes on what fails after the first word", async () => {
  const { ask, calls, failures } = createRig([[START, delta("Half"), OVERLOADED]]);
  const { stream } = await ask();
  const { ended, parts } = collect(stream);
  await ended;
  expect(parts).toMatchObject([
    START,
    delta("Half"),
    { type: "error", error: { code: "model-overloaded" } },
    {},
  ]);
  expect([calls(), failures]).toEqual([1, []]);
});

it.each([400, 401, 403, 404, 413])("does not make a call again that is refused with %i", async (status) => {
  const { ask, calls, ends, failures } = createRig([httpError(status)]);
  await expect(ask()).rejects.toMatchObject({ retryable: false, status });
  expect([calls(), failures, ends()]).toEqual([1, [], 1]);
});

it("does not make a call again when the quota is used up", async () => {
  const used = Object.assign(httpError(429), { data: { error: { code: "insufficient_quota" } } });
  const { ask, calls } = createRig([used]);
  await expect(ask()).rejects.toMatchObject({ code: "model-rate-limited" });
  expect(calls()).toBe(1);
});

it("tells how long the server asks to wait, and throws the last failure when the patience is over", async () => {
  const busy = httpError(429, { "retry-after": "7" });
  const { ask, calls, clock, ends, failures } = createRig([busy, busy, busy], { waits: 1 });
  await expect(ask()).rejects.toMatchObject({ code: "model-rate-limited" });
  expect(failures.map(({ retryAfterMs }) => retryAfterMs)).toEqual([7000, 7000]);
  expect([calls(), ends(), clock.pending]).toEqual([2, 1, 0]);
});

it("ends the wait with the caller's signal", async () => {
  const { calls, clock, ends, model } = createRig([httpError(503)]);
  const caller = new AbortController();
  const answer = Promise.resolve(model.doStream({ ...PROMPT, abortSignal: caller.signal }));
  answer.catch(() => undefined);
  await settle();
  const reason = new DOMException("stopped", "AbortError");
  caller.abort(reason);
  await expect(answer).rejects.toBe(reason);
  expect([calls(), ends(), clock.pending]).toEqual([1, 1, 0]);
});

it("passes the first word on before the second has come", async () => {
  const clock = new FakeClock();
  let controller: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({ start: (own) => void (controller = own) });
  const guarded = guardModel(
    stubModel(() => Promise.resolve({ stream })),
    { clock },
  );
  const answer = patientModel(
    guarded,
    { answersBy: undefined, next: () => undefined, end: () => {} },
    clock,
  ).doStream(PROMPT);
  controller?.enqueue(delta("One"));
  const { parts } = collect((await answer).stream);
  await settle();
  expect(parts).toEqual([delta("One")]);
});
