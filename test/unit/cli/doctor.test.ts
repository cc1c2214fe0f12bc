import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../../../cli/run-command.ts";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import { checkNode } from "../../../ops/doctor/check-machine.ts";
import type { Finding } from "../../../ops/doctor/finding.ts";
import { writeControl } from "../../../ops/serve/control-file.ts";

const SECRET = "s3cret-s3cret";
const KEY = "sk-of-the-model";

let folder: string;
let environment: Record<string, string>;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-doctor-"));
  const config = {
    name: "tea",
    main: "bot.ts",
    compatibility_date: "2026-10-15",
    durable_objects: { bindings: [{ name: "MyBot", class_name: "MyBot" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["MyBot"] }],
  };
  await writeFile(path.join(folder, "wrangler.jsonc"), JSON.stringify(config));
  await writeFile(path.join(folder, "bot.ts"), "");
  environment = { PORT: "0" };
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(folder, { recursive: true, force: true });
});

async function doctor(...parameters: string[]) {
  let output = "";
  const code = await runCommand(["doctor", "--json", ...parameters], {
    folder,
    environment,
    isInteractive: false,
    write: (text) => (output += text),
    writeError: () => undefined,
  });
  expect(output).not.toContain(KEY);
  expect(output).not.toContain(SECRET);
  const { findings } = JSON.parse(output) as { findings: Finding[] };
  return { code, of: (about: string) => findings.filter((finding) => finding.about === about), findings };
}

/** A server that answers every request in this way. */
async function serve(status: number, body: unknown = {}): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body)),
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("switchboard doctor", () => {
  it("finds nothing wrong with a bot that only needs the simulator", async () => {
    const { code, findings } = await doctor();
    expect(findings.filter(({ status }) => status === "problem")).toEqual([]);
    expect(code).toBe(0);
    for (const { fix, status } of findings)
      expect(fix === undefined).toBe(status === "ok" || status === "skipped");
  });

  it("reads .env, and finds what is wrong with it", async () => {
    await writeFile(
      path.join(folder, ".env"),
      `TELEGRAM_BOT_TOKEN=bot12:abc\nTELEGRAM_WEBHOOK_SECRET_TOKEN=${SECRET}\nOPENAI_API_KEY=${KEY}\nLOG_LEVEL=loud\n`,
      { mode: 0o644 },
    );
    const { code, of } = await doctor();
    expect(code).toBe(1);
    expect(of("variables")).toMatchObject([{ status: "warning", fix: expect.stringContaining("chmod 600") }]);
    expect(of("Telegram token")).toMatchObject([{ status: "problem" }]);
    expect(of("webhook secret")).toMatchObject([{ status: "ok" }]);
    expect(of("model")).toContainEqual(
      expect.objectContaining({ status: "problem", message: "MODEL is not set." }),
    );
    expect(of("LOG_LEVEL")).toMatchObject([{ status: "warning" }]);
  });

  it("does not miss Telegram's variables for a bot on another platform", async () => {
    environment = { ...environment, TEAMS_APP_ID: "app" };
    const { of } = await doctor();
    expect([of("Telegram token"), of("webhook secret")]).toEqual([[], []]);
    expect(of("Teams")).not.toEqual([]);
    environment = { ...environment, TELEGRAM_BOT_TOKEN: "12" };
    expect((await doctor()).of("Telegram token")).toMatchObject([{ status: "problem" }]);
  });

  it("says what to set for a bot with an adapter, and does not miss Telegram's variables", async () => {
    const dependencies = { "@chat-adapter/slack": "4.41.1" };
    await writeFile(path.join(folder, "package.json"), JSON.stringify({ dependencies }));
    const { of } = await doctor();
    expect(of("Telegram token")).toEqual([]);
    expect(of("Slack")).toMatchObject([
      { status: "warning", fix: expect.stringMatching(/SLACK_BOT_TOKEN .*SLACK_SIGNING_SECRET/) },
    ]);
  });

  it("says that git tracks the secrets", async () => {
    await writeFile(path.join(folder, ".env"), "MODEL=\n", { mode: 0o600 });
    spawnSync("git", ["init", "-q"], { cwd: folder });
    expect((await doctor()).of("variables")).toMatchObject([{ status: "ok" }]);
    spawnSync("git", ["add", "-f", ".env"], { cwd: folder });
    expect((await doctor()).of("variables")).toMatchObject([
      { status: "problem", fix: expect.stringContaining("git rm --cached .env") },
    ]);
  });

  it.each([
    [401, "problem", "refuses the key (401)"],
    [503, "warning", "has a problem now (503)"],
    [404, "ok", "answers"],
  ])("asks the model's server, which answers %i", async (status, expected, words) => {
    Object.assign(environment, { OPENAI_BASE_URL: await serve(status), OPENAI_API_KEY: KEY, MODEL: "m" });
    expect((await doctor()).of("model")).toMatchObject([
      { status: expected, message: expect.stringContaining(words) },
    ]);
  });

  it("says what to set if no model is set", async () => {
    expect((await doctor()).of("model")).toMatchObject([
      { status: "warning", fix: expect.stringContaining("Set OPENAI_BASE_URL") },
    ]);
    const file = path.join(folder, "wrangler.jsonc");
    await writeFile(file, (await readFile(file, "utf8")).replace("{", '{ "ai": { "binding": "AI" },'));
    expect((await doctor()).of("model")).toMatchObject([{ status: "skipped" }]);
  });

  it("says which package the model of the environment needs", async () => {
    Object.assign(environment, { OPENAI_BASE_URL: await serve(200), MODEL: "m" });
    expect((await doctor()).of("model package")).toMatchObject([
      { status: "problem", fix: "Run: npm install @ai-sdk/openai-compatible" },
    ]);
    const installed = path.join(folder, "node_modules/@ai-sdk/openai-compatible");
    await mkdir(installed, { recursive: true });
    await writeFile(path.join(installed, "package.json"), "{}");
    expect((await doctor()).of("model package")).toMatchObject([{ status: "ok" }]);
  });

  it("says that the model's server and Telegram cannot be reached", async () => {
    Object.assign(environment, {
      OPENAI_BASE_URL: "http://127.0.0.1:9",
      MODEL: "m",
      TELEGRAM_BOT_TOKEN: "1:abc",
      TELEGRAM_API_BASE_URL: "http://127.0.0.1:9",
    });
    const { of } = await doctor();
    expect(of("model")).toMatchObject([{ status: "problem" }]);
    expect(of("Telegram")).toMatchObject([
      { status: "problem", message: expect.stringContaining("cannot be reached") },
    ]);
  });

  it("asks Telegram for the bot and its webhook", async () => {
    const simulator = await startSimulator();
    Object.assign(environment, { TELEGRAM_BOT_TOKEN: simulator.token, TELEGRAM_API_BASE_URL: simulator.url });
    expect((await doctor()).of("webhook")).toMatchObject([
      { status: "warning", fix: expect.stringContaining("setup") },
    ]);
    simulator.setWebhook("http://127.0.0.1:9/hook", SECRET);
    const ada = simulator.addUser({ first_name: "Ada" });
    simulator.sendText(simulator.privateChat(ada), ada, "Hello?");
    await simulator.waitFor(() => simulator.webhookProblem() !== undefined);
    const { of } = await doctor();
    await simulator.close();
    expect(of("Telegram")).toMatchObject([
      { status: "ok", message: "The token belongs to @switchboard_bot." },
    ]);
    expect(of("webhook")).toMatchObject([
      { status: "problem", fix: expect.stringContaining("does not run") },
    ]);
  });

  it.each([
    ["something else", { ok: true, result: {} }, /getMe .*username: .*string/],
    ["a refusal without words", { ok: false }, /getMe .*error_code: .*number/],
    ["no JSON", "<html>", /getMe .*no JSON/],
  ])("says that the Bot API answers %s", async (_what, body, message) => {
    const url = await serve(200, body);
    Object.assign(environment, { TELEGRAM_BOT_TOKEN: "1:abc", TELEGRAM_API_BASE_URL: url });
    expect((await doctor()).of("Telegram")).toMatchObject([
      { status: "problem", message: expect.stringMatching(message) },
    ]);
  });

  it("asks the bot that runs on the data directory for its problem and its warnings", async () => {
    const url = await serve(503, {
      agent: "MyBot",
      problem: { code: "c", message: "The token is missing." },
      warnings: [{ code: "w", message: "2 chats wait." }],
    });
    environment.DATA_DIR = folder;
    environment.PORT = new URL(url).port;
    expect((await doctor()).of("port")).toMatchObject([{ status: "problem" }]);
    await writeControl(folder, { url, pid: process.pid, adminToken: "t" });
    const { of } = await doctor();
    expect(of("port")).toMatchObject([{ status: "ok" }]);
    expect(of("bot")).toMatchObject([
      { status: "problem", message: "MyBot cannot answer: The token is missing." },
      { status: "warning", message: "2 chats wait." },
    ]);
    // The bot's own sentences say what to do.
    expect(of("bot").map(({ fix }) => fix)).toEqual([undefined, undefined]);
  });

  it("finds a configuration that cannot work, and a folder that cannot be written", async () => {
    environment.DATA_DIR = path.join(folder, "bot.ts", "data");
    await writeFile(path.join(folder, "wrangler.jsonc"), '{ "name": "tea" }');
    const { of } = await doctor();
    expect(of("configuration")).toMatchObject([
      { status: "problem", message: expect.stringContaining("main") },
    ]);
    expect(of("storage")).toMatchObject([{ status: "problem", fix: expect.stringContaining("DATA_DIR") }]);
    expect((await doctor("--config", "none.jsonc")).of("configuration")).toMatchObject([
      { status: "problem" },
    ]);
  });

  it.each([
    ["v20.20.2", "problem"],
    ["v22.11.0", "problem"],
    ["v22.13.0", "ok"],
    ["v26.1.0", "ok"],
  ])("knows whether Node %s is new enough", (version, status) => {
    expect(checkNode(version).status).toBe(status);
  });

  it("prints a list that a person reads", async () => {
    let output = "";
    await runCommand(["doctor"], {
      folder,
      environment,
      isInteractive: false,
      write: (text) => (output += text),
      writeError: () => undefined,
    });
    expect(output).toMatch(/^ok {7}Node {11}Node v/m);
    expect(output).toMatch(/Nothing keeps the bot from running\.\n$/);
  });
});
