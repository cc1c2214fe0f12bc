import { describe, expect, it } from "vitest";
import { startParameters } from "../../../cli/start-parameters.ts";

describe("the parameters of npm start", () => {
  it("run the support bot with its shop", () => {
    expect(startParameters([])).toEqual(["dev", "--beside", "playground/shop/beside.ts"]);
    expect(startParameters(["--fresh", "--port", "9000"]).slice(3)).toEqual(["--fresh", "--port", "9000"]);
  });

  it.each([
    ["--config", "my-bot/wrangler.jsonc"],
    ["--config=my-bot/wrangler.jsonc"],
    ["-c", "my-bot/wrangler.jsonc"],
  ])("run another bot without the shop: %s", (...given) => {
    expect(startParameters(given)).toEqual(["dev", ...given]);
  });
});
