import { describe, expect, it } from "vitest";
import { checkHook } from "../../../src/hooks/incoming-hooks.ts";

const hook = { proof: { token: "s3cret" }, to: { messenger: "telegram", chatId: "7" }, notice: "Hello" };
const checked = (change: object) => () => checkHook("build", { ...hook, ...change });

describe("the check of a hook", () => {
  it.each<[string, object, RegExp]>([
    [
      "a misspelt key, which would send every call twice",
      { idempotencykey: () => "1" },
      /"idempotencyKey"\?/,
    ],
    [
      "a misspelt header",
      { proof: { secret: "s", heeder: "x" } },
      /proof\.heeder .* Did you mean "header"\?/,
    ],
    ["a notice that is none", { notice: 7 }, /notice must be a text or a function\. It is 7/],
    ["a variable that is not set", { proof: { token: undefined } }, /Is the variable set\?/],
    ["neither prompt nor notice", { notice: undefined }, /exactly one of prompt and notice/],
    ["no chats", { to: undefined }, /needs `to`/],
  ])("names the hook and the fix: %s", (_name, change, message) => {
    expect(checked(change)).toThrow(expect.objectContaining({ code: "hook-invalid" }));
    expect(checked(change)).toThrow(message);
    expect(checked(change)).toThrow(/The hook "build" of getIncomingHooks\(\)/);
  });

  it("accepts one that is right", () => {
    expect(checked({})).not.toThrow();
    expect(checked({ proof: { secret: "s", header: "x-hook", prefix: "" } })).not.toThrow();
  });
});
