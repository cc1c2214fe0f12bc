import { streamText } from "ai";
import { describe, expect, it } from "vitest";
import { guardModel } from "../../../src/models/guard-model.ts";
import { LazyModel } from "../../../src/models/lazy-model.ts";
import { PROMPT, stubModel } from "./stub-model.ts";

const NOT_FOUND = Object.assign(new Error('No such module "@ai-sdk/anthropic".'), {
  code: "ERR_MODULE_NOT_FOUND",
});

function modelWithoutPackage(): LazyModel {
  return new LazyModel({
    packageName: "@ai-sdk/anthropic",
    provider: "anthropic.messages",
    modelId: "claude",
    load: (missing) => Promise.reject(NOT_FOUND).catch(missing),
  });
}

const MISSING = {
  name: "ModelCallError",
  code: "model-package-missing",
  retryable: false,
  message:
    'Model "claude" needs the package @ai-sdk/anthropic, which is not installed: npm install @ai-sdk/anthropic',
};

describe("LazyModel", () => {
  it("names the package to install if it is missing", async () => {
    const guarded = guardModel(modelWithoutPackage());
    await expect(guarded.doGenerate(PROMPT)).rejects.toMatchObject(MISSING);
    const errors: unknown[] = [];
    const { textStream } = streamText({
      model: guarded,
      prompt: "hi",
      onError: ({ error }) => void errors.push(error),
    });
    for await (const text of textStream) expect(text).toBe("");
    expect(errors).toMatchObject([MISSING]);
  });

  it("answers an object while the import that another one has begun never ends", async () => {
    const loads = [
      new Promise<never>(() => undefined),
      Promise.resolve(stubModel(() => Promise.reject(new Error("not called")))),
    ];
    const model = new LazyModel({
      packageName: "stub",
      provider: "stub",
      modelId: "stub-1",
      load: () => loads.shift() ?? Promise.reject(new Error("loaded once more")),
    });
    void model.load();
    const loaded = await model.load();
    expect(await model.load()).toBe(loaded);
  });

  it("imports the package with the first call, once", async () => {
    let imports = 0;
    const stream = new ReadableStream<never>();
    const model = new LazyModel({
      packageName: "stub",
      provider: "stub",
      modelId: "stub-1",
      load: async () => {
        imports += 1;
        return Object.assign(
          stubModel(() => Promise.resolve({ stream })),
          { supportedUrls: { "image/*": [/^https:/] } },
        );
      },
    });
    expect(imports).toBe(0);
    expect((await model.doStream(PROMPT)).stream).toBe(stream);
    expect(await model.supportedUrls).toEqual({ "image/*": [/^https:/] });
    expect(imports).toBe(1);
  });
});
