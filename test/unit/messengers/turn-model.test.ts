import { expect, it } from "vitest";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { ModelRests } from "../../../src/models/index.ts";
import { checkModel, turnModel } from "../../../src/agent/turn-model.ts";
import type { ThinkModel } from "../../../src/agent/agent-methods.ts";

it.each([undefined, null])("names getModel() when it returns %s", (model) => {
  // A method without `return`, in a bot that nobody has checked with the compiler.
  const getModel = () => model as unknown as ThinkModel;
  expect(() => checkModel({ getModel }, {})).toThrow(
    expect.objectContaining({
      code: "model-not-returned",
      message: "getModel() returns nothing. Let it return a model: return modelFromEnv(this.env);",
    }),
  );
});

it.each([true, false])(
  "shows an exception of no known kind, and its place, with DEBUG only: %s",
  async (isDebug) => {
    const lines: string[] = [];
    const log = createLog((_level, line) => lines.push(line), isDebug ? { reveal: (words) => words } : {});
    const broken: ThinkModel = {
      specificationVersion: "v4",
      provider: "own",
      modelId: "own-1",
      supportedUrls: {},
      doStream: () => Promise.reject(new TypeError("the words of an exception")),
      doGenerate: () => Promise.reject(new Error("not called")),
    };
    const agent = {
      getModel: () => broken,
      chatStreamStallTimeoutMs: 0,
      chatStreamFirstChunkTimeoutMs: 0,
      modelPrices: {},
    };
    const ends: unknown[] = [];
    const onCall = (end: unknown): void => void ends.push(end);
    const options = { agent, deps: systemDeps, env: {}, log, rests: new ModelRests(), onCall };
    const model = turnModel(options, undefined, undefined);
    if (typeof model === "string" || model.specificationVersion !== "v4") throw new Error("another model");
    await expect(model.doStream({ prompt: [] })).rejects.toMatchObject({ code: "model-failed" });
    expect(ends).toMatchObject([{ provider: "own", model: "own-1", code: "model-failed", cost: 0 }]);
    const [line] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(line).toMatchObject({ event: "model.call-failed", code: "model-failed", model: "own-1" });
    expect(line?.["exception"]).toBe(isDebug ? "the words of an exception" : undefined);
    expect(String(line?.["at"]).includes("turn-model.test.ts")).toBe(isDebug);
  },
);
