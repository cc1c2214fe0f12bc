/**
 * `npm run bench:platforms`: times, calls and CPU of a reply on every emulated platform, and the size of a bot with none,
 * one and all of the adapters. All bots run beside each other and take turns, so the columns are of one run.
 * `-- --rounds N` asks each N times. @default 10
 *
 * Discord's first text is its own sign that the bot works.
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { cpuMs } from "../../lab/bench/process-tree.ts";
import { median } from "../../lab/bench/statistics.ts";
import { say } from "../../lab/support/model-script.ts";
import { ENTRY } from "../../ops/serve/bundle-files.ts";
import { bundleWorker } from "../../ops/serve/worker-bundle.ts";
import { parseWorkerConfig } from "../../ops/serve/worker-config.ts";
import { platforms } from "./platforms.ts";
import { Stage } from "./stage.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "10" } } });
const ROUNDS = Number(values.rounds);
/** A reply of twenty tokens, 25 ms apart. */
const TEXT = "four ".repeat(19);
const END = "DONE";
const PACE_MS = 25;
const LIMIT_MS = 30_000;
const CALLS = new Set(["post", "edit", "remove", "typing", "upload", "other"]);

interface Times {
  readonly webhookMs: number[];
  readonly firstTextMs: number[];
  readonly finalTextMs: number[];
  calls: number;
  cpuMs: number;
}

/** Asks once, and notes what happens when. */
async function ask(stage: Stage, times: Times, isNoted: boolean): Promise<void> {
  const talk = stage.talk(stage.person("Ada"));
  stage.on(`measured${talk.by.id}`, [say(TEXT, { chunkSize: 5, paceMs: PACE_MS }), say(END)]);
  const callsBefore = stage.server.calls().length;
  const cpuBefore = cpuMs(stage.bot.pid);
  let firstAt: number | undefined;
  const isWhole = new Promise<number>((resolve, reject) => {
    setTimeout(() => reject(new Error(`${stage.emulator.name}: no whole answer`)), LIMIT_MS).unref();
    stage.server.watch(() => {
      const text = talk
        .bot()
        .map((message) => message.text)
        .join(" ");
      if (text !== "") firstAt ??= performance.now();
      if (text.includes(END)) resolve(performance.now());
    });
  });
  const acted = await stage.emulator.act(talk.writing(`Say something measured${talk.by.id}`));
  const sentAt = performance.now();
  for (const webhook of acted?.webhooks ?? []) await stage.deliver(webhook);
  const answeredAt = performance.now();
  const wholeAt = await isWhole;
  await stage.rest();
  if (!isNoted) return;
  times.webhookMs.push(answeredAt - sentAt);
  times.firstTextMs.push((firstAt ?? wholeAt) - sentAt);
  times.finalTextMs.push(wholeAt - sentAt);
  times.calls += stage.server
    .calls()
    .slice(callsBefore)
    .filter(({ kind }) => CALLS.has(kind)).length;
  times.cpuMs += cpuMs(stage.bot.pid) - cpuBefore;
}

async function measure(): Promise<void> {
  const played: { readonly title: string; readonly stage: Stage; readonly times: Times }[] = [];
  for (const [title, create] of Object.entries(platforms)) {
    const times: Times = { webhookMs: [], firstTextMs: [], finalTextMs: [], calls: 0, cpuMs: 0 };
    played.push({ title, stage: await Stage.start(await create()), times });
  }
  // The first reply loads the adapter.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const { stage, times } of played) await ask(stage, times, round > 0);
  for (const { stage } of played) await stage.close();
  print(["platform", "webhook to 200, ms", "first text, ms", "whole text, ms", "calls", "CPU, ms"]);
  for (const { times, title } of played)
    print([
      title,
      ...[times.webhookMs, times.firstTextMs, times.finalTextMs].map((each) => median(each).toFixed(1)),
      (times.calls / ROUNDS).toFixed(1),
      (times.cpuMs / ROUNDS).toFixed(0),
    ]);
}

const FACTORIES = {
  slack: "createSlackAdapter",
  discord: "createDiscordAdapter",
  teams: "createTeamsAdapter",
  whatsapp: "createWhatsAppAdapter",
  gchat: "createGoogleChatAdapter",
  github: "createGitHubAdapter",
  linear: "createLinearAdapter",
} as const;

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(root, "node_modules/.cache/bench-platforms");
/** The folder is outside of those in which the package's name means its sources. */
const SOURCES = {
  "switchboard/messengers/telegram": path.join(root, "providers/telegram/index.ts"),
  "switchboard/messengers": path.join(root, "src/messengers/index.ts"),
  switchboard: path.join(root, "src/index.ts"),
};

/** Returns the gzipped KiB of the smallest bot with these adapters besides Telegram. */
async function sizeWith(adapters: readonly (keyof typeof FACTORIES)[]): Promise<number> {
  const minimal = await readFile(path.join(root, "examples/minimal/worker.ts"), "utf8");
  const imports = adapters.map((name) => `import { ${FACTORIES[name]} } from "@chat-adapter/${name}";\n`);
  const more = adapters.map(
    (name) => `, ${name}: chatSdkMessenger({ adapter: ${FACTORIES[name]}(), verifyWebhook: false })`,
  );
  const code = minimal
    .replace(
      "import { defineMessengers }",
      `${imports.join("")}import { ${adapters.length > 0 ? "chatSdkMessenger, " : ""}defineMessengers }`,
    )
    .replace("telegramFromEnv(this.env) }", `telegramFromEnv(this.env)${more.join("")} }`);
  const configFile = path.join(folder, "wrangler.jsonc");
  await writeFile(path.join(folder, "worker.ts"), code);
  await writeFile(configFile, await readFile(path.join(root, "examples/minimal/wrangler.jsonc"), "utf8"));
  const config = parseWorkerConfig(await readFile(configFile, "utf8"), configFile);
  const { files } = await bundleWorker(configFile, { ...config, alias: SOURCES });
  return gzipSync(files.get(ENTRY) ?? new Uint8Array()).length / 1024;
}

async function weigh(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = Object.keys(FACTORIES) as (keyof typeof FACTORIES)[];
  const none = await sizeWith([]);
  print(["bundle of a bot with", "KiB, gzipped", "more"]);
  for (const [title, adapters] of [
    ["Telegram alone", []],
    ...names.map((name) => [name, [name]] as const),
    ["all of them", names],
  ] as const) {
    const size = await sizeWith(adapters);
    print([title, size.toFixed(0), (size - none).toFixed(0)]);
  }
  await rm(folder, { recursive: true });
}

let columns = 0;

/** Prints a row of a table in Markdown. One of another width begins a table. */
function print(cells: readonly string[]): void {
  const isHead = cells.length !== columns;
  columns = cells.length;
  process.stdout.write(`${isHead ? "\n" : ""}| ${cells.join(" | ")} |\n`);
  if (isHead) process.stdout.write(`|${" --- |".repeat(cells.length)}\n`);
}

await weigh();
await measure();
