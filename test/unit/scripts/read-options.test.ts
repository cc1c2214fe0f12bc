import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../scripts/command-line/read-options.ts";

const options = {
  config: { type: "string", about: "the bot's configuration" },
  port: { type: "string", default: "8787", about: "the port" },
  fresh: { type: "boolean", default: false, about: "forget everything" },
  "allow-host": { type: "string", multiple: true, about: "a name; may be repeated" },
} as const;

function parse(...parameters: string[]) {
  let said = "";
  const command = new Command("npm run bot").exitOverride().configureOutput({
    writeErr: (text) => {
      said += text;
    },
  });
  return { values: () => parseOptions(command, options, parameters), said: () => said };
}

describe("a command line", () => {
  it("is read with its defaults", () => {
    expect(parse("--config", "x.jsonc").values()).toEqual({ config: "x.jsonc", port: "8787", fresh: false });
    expect(parse("--fresh", "--allow-host", "a", "--allow-host", "b").values()).toMatchObject({
      fresh: true,
      "allow-host": ["a", "b"],
    });
  });

  it.each([
    [["--confg", "x"], /unknown option '--confg'\n\(Did you mean --config\?\)/],
    [["--config"], /option '--config <value>' argument missing/],
    [["--fresh=yes"], /unknown option '--fresh=yes'/],
    [["x.jsonc"], /too many arguments/],
  ])("says what is wrong with %j, and which options there are", (parameters, line) => {
    const { said, values } = parse(...parameters);
    expect(values).toThrow(line);
    expect(said()).toMatch(line);
    expect(said()).toMatch(
      /Usage: npm run bot .*--config <value> +the bot's configuration.*default: "8787"/s,
    );
  });
});
