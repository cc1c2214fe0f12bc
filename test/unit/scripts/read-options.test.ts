import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../scripts/command-line/read-options.ts";

const options = {
  config: { type: "string", about: "the bot's configuration" },
  port: { type: "string", default: "8787", about: "the port" },
  fresh: { type: "boolean", default: false, about: "forget everything" },
} as const;
const list = [
  "Options of npm run bot:",
  "  --config <value>  the bot's configuration",
  "  --port <value>    the port (8787)",
  "  --fresh           forget everything",
].join("\n");
const parse = (...parameters: string[]) => parseOptions("npm run bot", options, parameters);

describe("a command line", () => {
  it("is read with its defaults", () => {
    expect(parse("--config", "x.jsonc")).toEqual({ config: "x.jsonc", port: "8787", fresh: false });
  });

  it.each([
    [["--confg", "x"], "Unknown option '--confg'."],
    [["--config"], "Option '--config <value>' argument missing."],
    [["--fresh=yes"], "Option '--fresh' does not take an argument."],
    [["x.jsonc"], "Unexpected argument 'x.jsonc'."],
  ])("says what is wrong with %j, and which options there are", (parameters, line) => {
    expect(() => parse(...parameters)).toThrow(`${line}\n${list}`);
  });
});
