import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../cli/run-command.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-command-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a command line without a process. */
async function run(...parameters: string[]) {
  let output = "";
  let errors = "";
  const code = await runCommand(parameters, {
    folder,
    environment: {},
    isInteractive: false,
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
  });
  return { code, output, errors };
}

describe("switchboard", () => {
  it("lists its commands", async () => {
    const { code, output } = await run("--help");
    expect(code).toBe(0);
    expect(output).toMatch(/^Usage: switchboard /);
    expect(output).toMatch(/^ {2}dev \[options\] +\S/m);
  });

  it("tells the options of a command, with --json", async () => {
    const { code, output } = await run("dev", "--help");
    expect(code).toBe(0);
    expect(output).toContain("--config <file>");
    expect(output).toContain("--json");
  });

  it("prints its version", async () => {
    expect(await run("--version")).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as unknown,
    });
  });

  it("answers a mistake with exit code 2 and the way to the help", async () => {
    const command = await run("deb");
    expect(command.code).toBe(2);
    expect(command.errors).toContain("Did you mean dev?");
    const option = await run("dev", "--confg", "x");
    expect(option.code).toBe(2);
    expect(option.errors).toMatch(/unknown option '--confg'[\s\S]*--help/);
    expect((await run()).code).toBe(2);
  });

  it.each(["http://laptop.local", "laptop.local:8080", "laptop.local/page", ""])(
    "asks for a name alone instead of --allow-host %s",
    async (name) => {
      const { code, errors } = await run("dev", "--allow-host", name);
      expect(code).toBe(2);
      expect(errors).toContain("without a port");
    },
  );

  it("answers a failure with exit code 1 and one sentence", async () => {
    const { code, errors, output } = await run("dev", "--port", "many");
    expect({ code, output }).toEqual({ code: 1, output: "" });
    expect(errors).toBe('--port is "many", which is not a port number (0 to 65535).\n');
  });

  it("answers a failure with one line of JSON", async () => {
    const { code, output } = await run("dev", "--port", "many", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(output)).toEqual({
      error: { code: "bad-port", message: expect.stringContaining("--port") as unknown },
    });
  });

  it("answers a mistake with one line of JSON, too", async () => {
    const mistake = await run("deb", "--json");
    expect(mistake.code).toBe(2);
    expect(JSON.parse(mistake.output)).toEqual({
      error: { code: "usage", message: expect.stringMatching(/^unknown command 'deb'/) as unknown },
    });
    const nothing = await run("--json");
    expect(nothing.code).toBe(2);
    expect(JSON.parse(nothing.output)).toMatchObject({ error: { code: "usage" } });
  });

  it.each([["dev", "--port", "0"], ["build"], ["serve", "--port", "0"]])(
    "says what to do in a folder without a bot: %s",
    async (...parameters) => {
      const { code, errors } = await run(...parameters);
      expect(code).toBe(1);
      expect(errors).toMatch(
        /^There is no \S*wrangler\.jsonc\. Go to the folder of your bot, .*--config.*switchboard init my-bot\n$/,
      );
    },
  );

  it("says that there is no data, and where it looked", async () => {
    const { code, output } = await run("data", "usage");
    expect(code).toBe(0);
    expect(output).toBe(
      `No bot has stored anything in ${folder}/.data. If its data is elsewhere, set DATA_DIR.\n`,
    );
  });
});
