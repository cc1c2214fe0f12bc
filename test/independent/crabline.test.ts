/**
 * The bot on emulators that others have written: `@openclaw/crabline` for Slack and WhatsApp. `npm run
 * contracts:independent` installs the package and runs this. Not in `npm test`: it installs 26 packages.
 */
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { say } from "../../lab/support/model-script.ts";
import { lastUserText, startScriptedModel, type ScriptedModel } from "../../lab/support/scripted-model.ts";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";

const entry = path.join(import.meta.dirname, "node_modules/@openclaw/crabline/dist/src/index.js");
const config = path.resolve(import.meta.dirname, "../contracts/bot/wrangler.jsonc");

interface Manifest {
  readonly adminToken: string;
  readonly endpoints: { readonly adminInboundUrl: string };
}
interface Started {
  readonly manifest: Manifest;
  close(): Promise<void>;
}
interface Call {
  readonly path?: string;
  readonly body?: unknown;
}
interface Crabline {
  startSlackServer(options: object): Promise<Started>;
  startWhatsAppServer(options: object): Promise<Started>;
}

const secret = "s3cret";
let folder: string;
let model: ScriptedModel;
let crabline: Crabline;

beforeAll(async () => {
  if (!existsSync(entry))
    throw new Error("Run `npm run contracts:independent`, which installs the emulators.");
  crabline = (await import(pathToFileURL(entry).href)) as Crabline;
  folder = await mkdtemp(path.join(tmpdir(), "crabline-"));
  model = await startScriptedModel();
  model.script((request) => [say(`You said: ${lastUserText(request)}`, { chunkSize: 200 })]);
});
afterAll(async () => {
  await model.close();
  await rm(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function serve(platform: string, options: object): Promise<ServedBot> {
  return startServedBot({
    config,
    env: {
      PLATFORM: platform,
      PLATFORM_OPTIONS: JSON.stringify(options),
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "scripted",
      MODEL: "scripted",
    },
  });
}

async function inject({ adminToken, endpoints }: Manifest, body: object): Promise<unknown> {
  const response = await fetch(endpoints.adminInboundUrl, {
    method: "POST",
    headers: { "content-type": "application/json", "x-crabline-admin-token": adminToken },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response.json();
}

/** Returns how many calls have a text, as soon as there is one. */
async function callsWith(calls: readonly Call[], text: string): Promise<number> {
  const found = (): readonly Call[] =>
    calls.filter(({ body }) => JSON.stringify(body ?? null).includes(text));
  await expect.poll(() => found().length, { timeout: 30_000, interval: 50 }).toBeGreaterThan(0);
  return found().length;
}

describe("a bot on others' emulator of Slack", () => {
  let server: Started;
  let bot: ServedBot;
  const calls: Call[] = [];

  beforeAll(async () => {
    const port = await freePort();
    bot = await serve("slack", {
      apiUrl: `http://127.0.0.1:${port}/api/`,
      botToken: "xoxb-crabline",
      signingSecret: secret,
    });
    server = await crabline.startSlackServer({
      port,
      botToken: "xoxb-crabline",
      signingSecret: secret,
      eventsRequestUrl: `${bot.url}/messengers/slack/webhook`,
      recorderPath: path.join(folder, "slack.jsonl"),
      onEvent: (call: Call) => void calls.push(call),
    });
  });
  afterAll(async () => {
    await bot.close();
    await server.close();
  });

  it("answers a private message once", async () => {
    await inject(server.manifest, { channel: "D0CRABLINE", user: "UADA", text: "hello from slack" });
    expect(await callsWith(calls, "You said: hello from slack")).toBe(1);
  });
});

describe("a bot on others' emulator of WhatsApp", () => {
  let server: Started;
  let bot: ServedBot;
  const calls: Call[] = [];
  const phoneNumberId = "106540352242922";

  beforeAll(async () => {
    server = await crabline.startWhatsAppServer({
      accessToken: "EAAG",
      phoneNumberId,
      recorderPath: path.join(folder, "whatsapp.jsonl"),
      onEvent: (call: Call) => void calls.push(call),
    });
    bot = await serve("whatsapp", {
      apiUrl: new URL(server.manifest.endpoints.adminInboundUrl).origin,
      accessToken: "EAAG",
      appSecret: secret,
      phoneNumberId,
      verifyToken: secret,
      userName: "shop",
    });
  });
  afterAll(async () => {
    await bot.close();
    await server.close();
  });

  it("answers a message once, also when its webhook comes again", async () => {
    const answer = (await inject(server.manifest, {
      chatJid: "15551234567@s.whatsapp.net",
      senderJid: "15551234567@s.whatsapp.net",
      text: "hello from whatsapp",
    })) as { readonly webhook?: object };
    const body = JSON.stringify(answer.webhook);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const deliver = async (): Promise<number> => {
      const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
      return (await fetch(`${bot.url}/messengers/whatsapp/webhook`, { method: "POST", headers, body }))
        .status;
    };
    expect([await deliver(), await deliver()]).toEqual([200, 200]);
    expect(await callsWith(calls, "You said: hello from whatsapp")).toBe(1);
  });
});
