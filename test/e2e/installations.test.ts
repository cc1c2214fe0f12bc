import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCommand } from "../../cli/run-command.ts";
import { say } from "../../lab/support/model-script.ts";
import { startScriptedModel, type ScriptedModel } from "../../lab/support/scripted-model.ts";
import { listObjects, rowsOf } from "../../ops/data/object-store.ts";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";

/*
 * A served bot of two roots that workspaces of Slack have installed: its tokens through restarts, new keys, copies and
 * removals.
 */

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const SOON = { timeout: 30_000 };

/** A post that Slack has taken. */
interface Post {
  readonly token: string;
  readonly channel: string;
  readonly text: string;
}
const posts: Post[] = [];
let slack: Server;
let model: ScriptedModel;
let bot: ServedBot;
let folder: string;

/** Slack's API, for as many workspaces as have a code. */
function answerOf(pathname: string, token: string, body: URLSearchParams): object {
  switch (pathname) {
    case "/oauth.v2.access": {
      const team = body.get("code") ?? "";
      const rest = { bot_user_id: `UBOT${team}`, is_enterprise_install: false };
      return { ok: true, access_token: `xoxb-${team}`, team: { id: team, name: team }, ...rest };
    }
    case "/chat.postMessage":
      posts.push({
        token,
        channel: body.get("channel") ?? "",
        text: body.get("markdown_text") ?? body.get("text") ?? "",
      });
      return { ok: true, ts: `${posts.length}.1`, channel: body.get("channel"), message: {} };
    default:
      return { ok: true, user: { id: "U1", name: "ada", profile: {} }, channel: { id: "C1", name: "c" } };
  }
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-installations-"));
  slack = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const answer = answerOf(request.url ?? "", token, new URLSearchParams(Buffer.concat(chunks).toString()));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(slack, "listening");
  model = await startScriptedModel();
  model.script(() => [say("Noted.")]);
  bot = await startServedBot({
    config: path.join(import.meta.dirname, "bots/installed/wrangler.jsonc"),
    env: {
      SLACK_URL: `http://127.0.0.1:${(slack.address() as AddressInfo).port}/`,
      SECRETS_KEY: keyOf(1),
      DRAIN_SECONDS: "0",
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "scripted",
      MODEL: "scripted",
    },
  });
});
afterAll(async () => {
  await bot.close();
  await model.close();
  slack.closeAllConnections();
  slack.close();
  await rm(folder, { recursive: true, force: true });
});

async function install(team: string): Promise<number> {
  const begun = await fetch(`${bot.url}/messengers/slack/install`, { redirect: "manual" });
  const page = new URL(begun.headers.get("location") ?? "");
  const cookie = begun.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const back = new URL(`${bot.url}/messengers/slack/install/callback`);
  back.searchParams.set("code", team);
  back.searchParams.set("state", page.searchParams.get("state") ?? "");
  return (await fetch(back, { headers: { cookie } })).status;
}

let events = 0;

/** Slack sends an event of a workspace: those of the second one to a root of their own. */
async function send(team: string, event: object): Promise<void> {
  events += 1;
  const time = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    type: "event_callback",
    team_id: team,
    event_id: `Ev${events}`,
    event_time: time,
    authorizations: [{ team_id: team, enterprise_id: null, is_enterprise_install: false }],
    event,
  });
  const signature = createHmac("sha256", "s3cret").update(`v0:${time}:${body}`).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-slack-request-timestamp": String(time),
    "x-slack-signature": `v0=${signature}`,
  };
  const url = `${bot.url}/messengers/slack/webhook${team === "T2" ? "?root=east" : ""}`;
  const { status } = await fetch(url, { method: "POST", headers, body });
  expect(status).toBe(200);
}

/** Ada mentions the bot in the channel of a workspace. */
async function mention(team: string): Promise<void> {
  const ts = `${1_800_000_000 + events}.1`;
  const text = `<@UBOT${team}> hello`;
  await send(team, { type: "app_mention", user: "U1", channel: `C${team}`, ts, text, team });
}

/** Mentions the bot, and resolves when the answer is there. */
async function ask(team: string): Promise<Post> {
  const before = posts.length;
  await mention(team);
  await vi.waitFor(() => expect(posts.slice(before).map((post) => post.text)).toContain("Noted."), SOON);
  const found = posts.slice(before).find((post) => post.text === "Noted.");
  if (found === undefined) throw new Error("The answer is gone.");
  return found;
}

async function data(...parameters: string[]): Promise<{ code: number; result: Record<string, unknown> }> {
  let output = "";
  const code = await runCommand(["data", ...parameters, "--json"], {
    folder,
    environment: { DATA_DIR: bot.dataDirectory },
    isInteractive: false,
    write: (text) => (output += text),
    writeError: () => undefined,
  });
  return { code, result: JSON.parse(output) as Record<string, unknown> };
}

/** The bytes of all files below a folder. */
async function bytesIn(below: string): Promise<string> {
  let bytes = "";
  for (const entry of await readdir(below, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += await readFile(path.join(entry.parentPath, entry.name), "latin1");
  return bytes;
}

/** A column of a table in all objects, with the objects' names. */
function stored(table: string, column: string): readonly string[] {
  const objects = listObjects(path.join(bot.dataDirectory, "objects"));
  return objects.flatMap(({ file, name }) =>
    rowsOf(file, table).map((row) => `${name} ${String(row[column])}`),
  );
}

const tokens = (): readonly string[] => stored("secret_v1", "name");

const tokenOf = (team: string): string => `default adapter:slack:slack:installation:${team}`;

describe("a served bot in two workspaces of Slack", () => {
  it("answers each with its own token, also after a crash", async () => {
    expect([await install("T1"), await install("T2")]).toEqual([200, 200]);
    expect(await ask("T1")).toMatchObject({ token: "xoxb-T1", channel: "CT1" });
    await bot.restart();
    expect(await ask("T2")).toMatchObject({ token: "xoxb-T2", channel: "CT2" });
    expect(stored("directory_v2", "chat_id")).toEqual(["default slack:CT1", "east slack:CT2"]);
    expect(tokens()).toEqual([tokenOf("T1"), tokenOf("T2")]);
    expect(stored("adapter_state_v1", "key")).toContain("default/state:facts slack:user:T1:U1");
  });

  it("seals the tokens with a new key when it starts, after which the old one may go", async () => {
    await bot.restart({ SECRETS_KEY: keyOf(2), SECRETS_KEYS_OLD: keyOf(1) });
    expect(await ask("T1")).toMatchObject({ token: "xoxb-T1" });
    await bot.restart({ SECRETS_KEY: keyOf(2), SECRETS_KEYS_OLD: "" });
    expect(await ask("T1")).toMatchObject({ token: "xoxb-T1" });
    expect(await ask("T2")).toMatchObject({ token: "xoxb-T2" });
  });

  it("has no token in its data, in a copy, in an export, or in its log", async () => {
    expect(await data("backup", "copy")).toMatchObject({ code: 0 });
    expect(await data("export", "slack:CT1", "--out", "chat.json")).toMatchObject({ code: 0 });
    const texts = [await bytesIn(path.join(bot.dataDirectory, "objects")), await bytesIn(folder), bot.logs()];
    for (const text of texts) expect(text).not.toContain("xoxb-T");
    expect(await readFile(path.join(folder, "chat.json"), "utf8")).toContain("hello");
  });

  it("deletes the token of a workspace that has removed it, and answers after a new installation", async () => {
    await send("T1", { type: "app_uninstalled" });
    expect(tokens()).toEqual([tokenOf("T2")]);
    // Its workspace cannot be answered now, and the other one can.
    const answered = posts.length;
    await mention("T1");
    expect(await ask("T2")).toMatchObject({ token: "xoxb-T2" });
    expect(posts.slice(answered).map(({ token }) => token)).not.toContain("xoxb-T1");
    expect(await install("T1")).toBe(200);
    expect(await ask("T1")).toMatchObject({ token: "xoxb-T1" });
    await send("T2", { type: "tokens_revoked", tokens: { bot: ["UBOTT2"] } });
    expect(tokens()).toEqual([tokenOf("T1")]);
  });

  it("forgets a chat with the address of its installation", async () => {
    await bot.stop();
    expect(await bytesIn(path.join(bot.dataDirectory, "objects"))).toContain("installation:slack:CT1");
    expect(await data("forget", "slack:CT1", "--yes")).toMatchObject({ code: 0 });
    expect(await bytesIn(path.join(bot.dataDirectory, "objects"))).not.toContain("CT1");
    expect(tokens()).toEqual([tokenOf("T1")]);
  });

  it("forgets a person with what the adapter keeps of them, and nobody else", async () => {
    const facts = (): readonly string[] =>
      stored("adapter_state_v1", "key").filter((key) => key.startsWith("default/state:facts "));
    expect(facts()).toContain("default/state:facts slack:user:T2:U1");
    expect(await data("forget", "U1", "--yes")).toMatchObject({ code: 0 });
    const bots = ["T1", "T2"].map((team) => `default/state:facts slack:user:${team}:UBOT${team}`);
    expect(facts()).toEqual(bots);
    expect(tokens()).toEqual([tokenOf("T1")]);
  });
});
