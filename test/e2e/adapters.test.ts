import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commandFile, startServedBot } from "../../lab/support/served-bot.ts";

const CONFIG = "examples/everywhere/wrangler.jsonc";
const ADAPTERS = ["slack", "discord", "teams", "whatsapp", "gchat", "github", "linear", "telegram"];

/** Stands for all platforms, and refuses everything. */
let platform: Server;
let env: Record<string, string>;
let dataDirectory: string;
const closers: (() => Promise<unknown>)[] = [];

/** What the example is given to be on all platforms. */
function variables(url: string): Record<string, string> {
  const secret = "s3cret";
  return {
    SLACK_API_URL: `${url}/`,
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_SIGNING_SECRET: secret,
    DISCORD_API_URL: url,
    DISCORD_APPLICATION_ID: "1",
    DISCORD_BOT_TOKEN: "token",
    DISCORD_PUBLIC_KEY: "ab".repeat(32),
    TEAMS_API_URL: url,
    TEAMS_APP_ID: "app",
    TEAMS_APP_PASSWORD: secret,
    TEAMS_APP_TENANT_ID: "tenant",
    WHATSAPP_API_URL: url,
    WHATSAPP_ACCESS_TOKEN: "EAAG",
    WHATSAPP_APP_SECRET: secret,
    WHATSAPP_PHONE_NUMBER_ID: "1",
    WHATSAPP_VERIFY_TOKEN: secret,
    WHATSAPP_BOT_USERNAME: "shop",
    GOOGLE_CHAT_API_URL: url,
    GOOGLE_CHAT_CREDENTIALS: JSON.stringify({ client_email: "bot@example.org", private_key: "key" }),
    GOOGLE_CHAT_PROJECT_NUMBER: "1",
    GITHUB_API_URL: url,
    GITHUB_TOKEN: "ghp",
    GITHUB_WEBHOOK_SECRET: secret,
    GITHUB_BOT_USERNAME: "shop-bot",
    LINEAR_API_URL: url,
    LINEAR_API_KEY: "lin",
    LINEAR_WEBHOOK_SECRET: secret,
    TELEGRAM_API_BASE_URL: url,
    TELEGRAM_BOT_TOKEN: "1:token",
    TELEGRAM_WEBHOOK_SECRET_TOKEN: secret,
  };
}

beforeAll(async () => {
  platform = createServer((_request, response) =>
    response.writeHead(401, { "content-type": "application/json" }).end("{}"),
  ).listen(0, "127.0.0.1");
  await once(platform, "listening");
  env = variables(`http://127.0.0.1:${(platform.address() as AddressInfo).port}`);
});
beforeEach(async () => {
  dataDirectory = await mkdtemp(path.join(tmpdir(), "switchboard-adapters-"));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await rm(dataDirectory, { recursive: true, force: true });
});
afterAll(() => {
  platform.close();
  platform.closeAllConnections();
});

/** Sends a request without a signature to each adapter. One that could not start would answer 503. */
async function refusals(url: string): Promise<Record<string, number>> {
  const answers = ADAPTERS.map(async (name): Promise<[string, number]> => {
    const { status } = await fetch(`${url}/messengers/${name}/webhook`, { method: "POST", body: "{}" });
    return [name, status];
  });
  return Object.fromEntries(await Promise.all(answers));
}

const refused = {
  slack: 401,
  discord: 401,
  teams: 401,
  whatsapp: 401,
  gchat: 401,
  github: 401,
  linear: 400,
  telegram: 401,
};

/** `dev` plays Telegram itself, if no token is set. */
async function startDev(): Promise<string> {
  const others = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("TELEGRAM_")));
  const child: ChildProcess = spawn(
    process.execPath,
    [commandFile(), "dev", "--json", "--port", "0", "--config", CONFIG],
    {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PORT: "0",
        DATA_DIR: dataDirectory,
        ...others,
      },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  closers.push(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  if (child.stdout === null) throw new Error("The command has no output.");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const started = JSON.parse(line) as { readonly ready: boolean; readonly bot: string };
  expect(started.ready).toBe(true);
  return started.bot;
}

describe("the example that is on every platform", () => {
  it("starts by build and serve, and each adapter answers", async () => {
    const bot = await startServedBot({ config: CONFIG, env });
    closers.push(() => bot.close());
    expect(await refusals(bot.url)).toEqual(refused);
  });

  it("is only where its variables are set", async () => {
    const { SLACK_API_URL, SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET } = env;
    const bot = await startServedBot({
      config: CONFIG,
      env: { SLACK_API_URL, SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET } as Record<string, string>,
    });
    closers.push(() => bot.close());
    const nowhere = Object.fromEntries(ADAPTERS.map((name) => [name, 404]));
    expect(await refusals(bot.url)).toEqual({ ...nowhere, slack: 401 });
  });

  it("starts without platforms whose variables are incomplete, and names these", async () => {
    const given = {
      ...env,
      DISCORD_PUBLIC_KEY: "",
      TEAMS_APP_ID: "",
      TEAMS_APP_TENANT_ID: "",
      // The adapter throws for an App without an id.
      GITHUB_TOKEN: "",
      GITHUB_PRIVATE_KEY: "a key",
    };
    const bot = await startServedBot({ config: CONFIG, env: given });
    closers.push(() => bot.close());
    expect(await refusals(bot.url)).toEqual({ ...refused, discord: 503, github: 503, teams: 503 });
    const health = await fetch(`${bot.url}/health`);
    const { warnings } = (await health.json()) as { warnings: readonly { code: string; message: string }[] };
    const lacks = warnings.filter(({ code }) => code === "messenger-unconfigured");
    expect(lacks.map(({ message }) => message.split(":")[0])).toEqual([
      'The messenger "discord" is left out. Set DISCORD_PUBLIC_KEY',
      'The messenger "teams" is left out. Set TEAMS_APP_ID, TEAMS_APP_TENANT_ID',
      'The messenger "github" is left out. Set GITHUB_TOKEN or GITHUB_APP_ID',
    ]);
    expect(bot.logs()).toContain('"missing":"TEAMS_APP_ID, TEAMS_APP_TENANT_ID"');
    expect(bot.logs()).not.toContain(env["TEAMS_APP_PASSWORD"]);
  });

  it("starts by dev, and each adapter answers", async () => {
    expect(await refusals(await startDev())).toEqual(refused);
  });
});
