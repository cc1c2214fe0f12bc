import { expect, it } from "vitest";
import { checkModel } from "../../../src/messengers/agent/turn-model.ts";
import type { ThinkModel } from "../../../src/messengers/agent/agent-methods.ts";

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
