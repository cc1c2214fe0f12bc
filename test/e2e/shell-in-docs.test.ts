import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../lab/support/gate.ts";
import { callTool, holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { lastUserText } from "../../lab/support/scripted-model.ts";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { writeSampleBot } from "../support/sample-bot.ts";
import { codeExamples, codeInText, COMMAND_PAGES, shellExamples, wordsOf } from "../support/doc-pages.ts";

/** The shell examples of the pages, typed as a reader types them: only addresses and ids are replaced. */
const root = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const HTTP = "docs/http.md";
/** The first group of the simulator. */
const GROUP_ID = "-1002000000001";
const SECRETS = { ADMIN_TOKEN: "admin-secret", CI_SECRET: "ci-secret" };

/** Added to the bot of the page, so that the examples about approvals have an action to approve. */
const ACTIONS = `getActions() {
  const inputSchema = z.object({ build: z.number() });
  return { deploy: action({ description: "Deploys a build.", inputSchema, approval: true, execute: () => "deployed" }) };
}`;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

let folder: string;
let rig: Rig;
let group: SimChat;
let ada: SimChat;
const examples = COMMAND_PAGES.flatMap((page) => shellExamples(page).map((code) => ({ page, code })));
const tried = new Set<string>();

/** Runs the example of a page that has these words. Returns what it wrote, and the calls that it made. */
async function type(
  page: string,
  words: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly output: string; readonly calls: readonly Call[] }> {
  const found = examples.filter((example) => example.page === page && example.code.includes(words));
  expect(found.length).toBe(1);
  const [{ code } = { code: "" }] = found;
  tried.add(code);
  const record = path.join(folder, "calls");
  await writeFile(record, "");
  const places =
    /https:\/\/bot\.example(?=[/"$])|http:\/\/127\.0\.0\.1:8787|https:\/\/discord\.com\/api\/v10/g;
  const text = code.replaceAll(places, rig.bot.url);
  const { stdout } = await run("bash", ["-eu", "-c", text], {
    env: { PATH: `${folder}/programs:${process.env.PATH}`, CURL_RECORD: record, ...variables },
  });
  const lines = (await readFile(record, "utf8")).trim().split("\n");
  return { output: stdout, calls: lines.filter(Boolean).map((line) => JSON.parse(line) as Call) };
}

const textsIn = (chat: SimChat) =>
  rig.simulator
    .messages(chat)
    .filter(({ from }) => from.isBot)
    .map(({ text }) => text);
const bodyOf = (call: Call | undefined) => JSON.parse(call?.body ?? "") as Record<string, unknown>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard shell examples "));
  await run("mkdir", [path.join(folder, "programs")]);
  for (const name of ["curl", "openssl"]) {
    const program = path.join(folder, "programs", name);
    const source = path.join(root, `test/support/stand-ins/${name}.mjs`);
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${source}" "$@"\n`);
    await chmod(program, 0o755);
  }
  const sample = codeExamples(HTTP).find((code) => code.includes("class BuildBot"));
  const config = await writeSampleBot(folder, sample?.replace('"-100123"', `"${GROUP_ID}"`) ?? "", {
    members: ACTIONS,
    // Variables of a bot's own are declared.
    vars: { CI_SECRET: "" },
  });
  rig = await startRig({ config, env: SECRETS });
  const user = rig.simulator.addUser({ id: 4711, first_name: "Ada" });
  ada = rig.simulator.privateChat(user);
  group = rig.simulator.addGroup({ title: "Builds", members: [user] });
  rig.model.script((request) => {
    if (request.messages.at(-1)?.role === "tool") return [say("I have asked.")];
    return lastUserText(request).includes("Deploy") ? [callTool("deploy", { build: 7 })] : [say("Hello.")];
  });
});

afterAll(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

describe("a shell example", () => {
  it("tells a chat that a build has failed", async () => {
    expect(String(group.id)).toBe(GROUP_ID);
    const { calls } = await type(HTTP, "/hooks/build", SECRETS);
    expect(calls.map(({ status }) => status)).toEqual([202]);
    await rig.simulator.waitFor(() => textsIn(group).length === 1);
    expect(textsIn(group)).toEqual(["Build 7 of shop has failed."]);
  });

  it("asks the model of a conversation, and cancels that", async () => {
    rig.simulator.sendText(ada, { id: 4711 }, "Hello");
    await rig.simulator.waitFor(() => textsIn(ada).includes("Hello."));
    const gate = createGate();
    const asked = rig.model.request(rig.model.requests().length);
    rig.model.script(() => [holdAt(gate)]);
    const { calls } = await type(HTTP, `"deliver": true`, SECRETS);
    expect(calls.map(({ status }) => status)).toEqual([202]);
    expect(lastUserText(await asked)).toContain("Build 7 has failed. Explain why.");
    const variables = { ...SECRETS, STATUS_URL: String(bodyOf(calls[0])["statusUrl"]) };
    const looked = await type(HTTP, "$STATUS_URL", variables);
    expect(looked.calls.map(({ method, status }) => [method, status])).toEqual([
      ["GET", 200],
      ["DELETE", 204],
    ]);
    gate.open();
  });

  it("lists what waits for consent, shows one, and decides", async () => {
    rig.model.script((request) =>
      request.messages.at(-1)?.role === "tool" ? [say("I have asked.")] : [callTool("deploy", { build: 7 })],
    );
    rig.simulator.sendText(ada, { id: 4711 }, "Deploy build 7");
    const url = `${rig.bot.url}/admin/approvals`;
    const waiting = async () => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${SECRETS.ADMIN_TOKEN}` } });
      const { approvals } = (await response.json()) as {
        readonly approvals: readonly { readonly executionId: string; readonly inputHash: string }[];
      };
      return approvals;
    };
    await expect.poll(waiting, { timeout: 60_000 }).toHaveLength(1);
    const [approval] = await waiting();
    const variables = { ...SECRETS, ID: approval?.executionId ?? "", INPUT_HASH: approval?.inputHash ?? "" };
    const { calls } = await type(HTTP, "/admin/approvals", variables);
    expect(calls.map(({ method, status }) => [method, status])).toEqual([
      ["GET", 200],
      ["GET", 200],
      ["POST", 200],
    ]);
    const [list, one, decision] = calls.map(bodyOf);
    expect(list?.["approvals"]).toMatchObject([{ descriptor: { action: "deploy", input: { build: 7 } } }]);
    expect(one).toMatchObject({ executionId: variables.ID, state: "waiting" });
    expect(decision).toMatchObject({ decided: true });
    await rig.simulator.waitFor(() => textsIn(ada).some((text) => text.includes("Grace Hopper")));
  });

  it.each(["docs/guides/debugging.md", "docs/learn/deploying.md"])(
    "asks whether the bot is ready (%s)",
    async (page) => {
      const { calls, output } = await type(page, "/health");
      expect(calls.map(({ status }) => status)).toEqual([200]);
      expect(JSON.parse(output)).toMatchObject({ status: "ok" });
    },
  );

  it("tells Discord the commands", async () => {
    const page = "docs/platforms/discord.md";
    const { calls } = await type(page, "discord.com", {
      DISCORD_APPLICATION_ID: "7",
      DISCORD_BOT_TOKEN: "t",
    });
    expect(calls).toMatchObject([{ method: "PUT", path: "/applications/7/commands" }]);
  });

  it("chooses a secret", async () => {
    const { output } = await type("docs/learn/real-telegram.md", "openssl rand");
    expect(output).toMatch(/^[0-9a-f]{64}\n$/);
    const written = COMMAND_PAGES.flatMap(codeInText).filter((code) => code.startsWith("openssl"));
    expect(written.length).toBeGreaterThan(0);
    // Keys of ciphers are given in base64.
    expect(new Set(written)).toEqual(new Set(["openssl rand -hex 32", "openssl rand -base64 32"]));
  });

  it("is tried here if it calls curl or openssl", () => {
    const all = examples.filter(({ code }) => /\b(?:curl|openssl)\b/.test(code)).map(({ code }) => code);
    expect(all.length).toBeGreaterThan(5);
    expect(all.filter((code) => !tried.has(code))).toEqual([]);
    expect(COMMAND_PAGES.flatMap(codeInText).filter((code) => code.startsWith("curl "))).toEqual([]);
  });
});

/** Command lines of wrangler, in examples and in running text. */
const WRANGLER = [
  ...new Set(
    COMMAND_PAGES.flatMap((page) => [
      ...shellExamples(page).flatMap((code) => code.split("\n")),
      ...codeInText(page),
    ]).flatMap((line) => /^(?:npx )?wrangler (?<words>[^#]+)/.exec(line)?.groups?.["words"]?.trim() ?? []),
  ),
].map((line) => ({ line, words: wordsOf(line) }));

/** Returns the command of a line: the words before the first name or option. */
function wranglerCommand(words: readonly string[]): string {
  const end = words.findIndex((word) => !/^[a-z]+$/.test(word));
  return words.slice(0, end === -1 ? words.length : end).join(" ");
}

async function wranglerHelp(command: string): Promise<string> {
  const program = path.join(root, "node_modules/wrangler/bin/wrangler.js");
  const { stdout } = await run(process.execPath, [program, ...command.split(" "), "--help"], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WRANGLER_SEND_METRICS: "false" },
  });
  return stdout;
}

/** Returns the mistake in a line, if wrangler's own help shows one. */
function mistakeIn({ line, words }: (typeof WRANGLER)[number], help: string): string | undefined {
  const command = wranglerCommand(words);
  const heading = help.split("\n").find((text) => text.startsWith("wrangler ")) ?? "";
  const [, parameters] = new RegExp(`^wrangler ${command}((?: [<[].*)?)$`).exec(heading.trimEnd()) ?? [];
  if (parameters === undefined) return `${line}: wrangler has no such command`;
  const rest = words.slice(command.split(" ").length);
  let given = 0;
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index] ?? "";
    if (!word.startsWith("-")) {
      given += 1;
      continue;
    }
    const described = help.split("\n").find((text) => new RegExp(`(?:^|[\\s,])${word}(?=[\\s,])`).test(text));
    if (described === undefined) return `${line}: wrangler ${command} has no option ${word}`;
    if (!described.includes("[boolean]")) index += 1;
  }
  const needed = parameters.match(/<[^>]+>/g)?.length ?? 0;
  const possible = parameters.match(/<[^>]+>|\[[^\]]+\]/g)?.length ?? 0;
  if (given < needed || given > possible) return `${line}: takes ${heading}`;
  return undefined;
}

describe("a line with wrangler", () => {
  it("names a command of the installed wrangler, with its parameters and options", async () => {
    expect(WRANGLER.length).toBeGreaterThan(3);
    const commands = [...new Set(WRANGLER.map(({ words }) => wranglerCommand(words)))];
    const helps = new Map(
      await Promise.all(commands.map(async (command) => [command, await wranglerHelp(command)] as const)),
    );
    const mistakes = (lines: typeof WRANGLER) =>
      lines.flatMap((line) => mistakeIn(line, helps.get(wranglerCommand(line.words)) ?? "") ?? []);
    expect(mistakes(WRANGLER)).toEqual([]);
    // The check itself notices what is wrong.
    const wrong = ["secret put", "secret put A B", "deploy --confg x", "deploi"].map((line) => ({
      line,
      words: wordsOf(line),
    }));
    expect(mistakes(wrong)).toHaveLength(wrong.length);
  });
});
