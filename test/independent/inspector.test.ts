/**
 * The actions of a bot as tools of the MCP inspector's command line, which the protocol's authors have written. `npm run
 * contracts:independent` installs the package and runs this. Not in `npm test`: it installs 120 packages.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRig, type Rig } from "../../lab/support/rig.ts";

const root = path.resolve(import.meta.dirname, "../..");
const inspector = path.join(import.meta.dirname, "node_modules/.bin/mcp-inspector");
const config = "examples/mcp-bot/wrangler.jsonc";
const ADMIN_TOKEN = "of-the-operator";

interface Run {
  readonly exitCode: number;
  /** The result, as the command printed it. */
  readonly result: unknown;
  readonly errors: string;
}

let home: string;
let warehouse: Rig;
let token: string;

beforeAll(async () => {
  if (!existsSync(inspector))
    throw new Error("Run `npm run contracts:independent`, which installs the inspector.");
  home = await mkdtemp(path.join(tmpdir(), "inspector-"));
  warehouse = await startRig({ config, env: { ADMIN_TOKEN } });
  const words = ["token", "create", "inspector", "--scope", "stock:reserve"];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [path.join(root, "cli/main.ts"), ...words, "--config", config, "--url", warehouse.bot.url, "--json"],
    { cwd: root, env: { ...process.env, ADMIN_TOKEN } },
  );
  token = String((JSON.parse(stdout) as { readonly token: unknown }).token);
});
afterAll(async () => {
  await warehouse.close();
  await rm(home, { recursive: true });
});

/** Runs the inspector once, with a home of its own: it keeps a catalog there. */
async function inspect(words: readonly string[], bearer = token): Promise<Run> {
  const address = new URL("/mcp", warehouse.bot.url).href;
  const own = [
    "--cli",
    address,
    "--header",
    `Authorization: Bearer ${bearer}`,
    "--stored-auth-only",
    "--quiet",
  ];
  const ran = await promisify(execFile)(process.execPath, [inspector, ...own, ...words], {
    env: { ...process.env, HOME: home },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error,
  );
  const { code: exitCode, stderr: errors, stdout } = ran;
  return { exitCode, errors, result: stdout.trim() === "" ? undefined : JSON.parse(stdout) };
}

const call = (tool: string, input: object) => [
  "--method",
  "tools/call",
  "--tool-name",
  tool,
  "--tool-args-json",
  JSON.stringify(input),
];

describe.each(["legacy", "modern"])("the inspector's command line, with the %s protocol", (era) => {
  const inEra = (words: readonly string[]) => [...words, "--protocol-era", era];

  it("lists the tools that the token may call, and finds no fault in their schemas", async () => {
    const { errors, exitCode, result } = await inspect(inEra(["--method", "tools/list", "--strict"]));
    expect({ errors, exitCode }).toEqual({ errors: "", exitCode: 0 });
    const { tools } = result as { readonly tools: readonly { readonly name: string }[] };
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["warehouse__stock", "warehouse__reserve"]));
    expect(names).not.toContain("warehouse__discard");
  });

  it("calls a tool, which takes its order once", async () => {
    const order = call("warehouse__reserve", { order: "7", sku: "mug-red", quantity: 2 });
    for (const words of [order, order]) {
      const { exitCode, result } = await inspect(inEra(words));
      expect(exitCode).toBe(0);
      expect(result).toMatchObject({ structuredContent: { taken: 2, free: 1 } });
    }
  });

  it("reads why an input does not fit", async () => {
    const input = { order: "8", sku: "mug-red", quantity: 1000 };
    const { exitCode, result } = await inspect(inEra(call("warehouse__reserve", input)));
    // The exit code of a tool's failure.
    expect(exitCode).toBe(5);
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: -32004, issues: [{ path: ["quantity"] }] },
    });
  });

  it("is refused with a token that the bot has not made", async () => {
    const { errors, exitCode, result } = await inspect(inEra(["--method", "tools/list"]), "swb_wrong");
    expect({ exitCode, result }).toEqual({ exitCode: 3, result: undefined });
    expect(errors).toContain("auth_required");
  });
});

it("runs the command of the page", async () => {
  const page = await readFile(path.join(root, "docs/mcp.md"), "utf8");
  const { dependencies } = JSON.parse(
    await readFile(path.join(import.meta.dirname, "package.json"), "utf8"),
  ) as { readonly dependencies: Readonly<Record<string, string>> };
  const start = `npx @modelcontextprotocol/inspector@${dependencies["@modelcontextprotocol/inspector"]} --cli`;
  const [, words = ""] = page.slice(page.indexOf(start)).split(/ --cli|```/);
  const command = words
    .replace("https://bot.example", warehouse.bot.url)
    .replace("swb_...", token)
    .replace("shop__refund", "warehouse__stock")
    .replace('{"orderId":"7"}', '{"sku":"tea-green"}');
  const { stdout } = await promisify(execFile)(
    "bash",
    ["-eu", "-c", `"${process.execPath}" "${inspector}" --cli ${command}`],
    { env: { ...process.env, HOME: home } },
  );
  expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { sku: "tea-green", free: 40 } });
});
