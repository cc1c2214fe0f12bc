import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommand } from "../../cli/run-command.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { finishMove, moveConversation } from "../../ops/data/move-conversation.ts";
import { newcomer, rehearse, type Person, type Rehearsal } from "./rehearsal.ts";

let rig: Rig;
let model: Rehearsal;
let ada: Person;
let bob: Person;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-move-"));
  rig = await startRig({ config: "test/e2e/bots/choosing/wrangler.jsonc" });
  model = rehearse(rig);
  ada = newcomer(rig, "Ada");
  bob = newcomer(rig, "Bob");
});
afterAll(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

const systemOf = (cue: string): string => JSON.stringify(model.requests(cue).at(-1)?.messages[0]);

async function data(...parameters: string[]): Promise<{ code: number; output: string }> {
  let output = "";
  const code = await runCommand(["data", ...parameters], {
    folder,
    environment: { DATA_DIR: rig.bot.dataDirectory },
    isInteractive: false,
    write: (text) => (output += text),
    writeError: (text) => (output += text),
  });
  return { code, output };
}

/** Every row of every table, by class and object, without the bytes that SQLite moves at will. */
async function rows(dataDirectory: string): Promise<Record<string, unknown>> {
  const objects = path.join(dataDirectory, "objects");
  const found: Record<string, unknown> = {};
  for (const name of (await readdir(objects, { recursive: true })).filter((file) =>
    file.endsWith(".sqlite"),
  )) {
    const database = new DatabaseSync(path.join(objects, name), { readOnly: true });
    const tables = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all();
    for (const { name: table } of tables) {
      const all = database.prepare(`SELECT * FROM "${String(table)}"`);
      all.setReadBigInts(true);
      found[`${name} ${String(table)}`] = all.all().map((row) => Object.values(row).map(String));
    }
    database.close();
  }
  return found;
}

it("moves a conversation to the class that the bot chooses now, with its memory, whenever it is killed", async () => {
  ada.write("My cat is called Schrodinger");
  await ada.reads("Noted.");
  bob.write("I want the salon");
  await bob.reads("Noted.");
  expect(systemOf("I want the salon")).toContain("the salon");
  ada.write("Now the salon", 1);
  await ada.reads("Noted.", "Noted.");
  expect(systemOf("Now the salon")).toContain("the shop");
  const health = (await (await fetch(`${rig.bot.url}/health`)).json()) as { warnings: { code: string }[] };
  expect(health.warnings).toMatchObject([{ code: "conversation-class-kept" }]);
  const name = `named:${ada.chat.id}`;
  expect((await data("usage")).output).toContain(`${name}: Shop, chosen: Salon`);
  expect((await data("move", name, "Salon")).output).toContain("already runs");
  await rig.bot.stop();
  expect((await data("move", name, "Shop")).code).toBe(1);
  expect((await data("move", `named:${bob.chat.id}`, "Salon")).output).toContain("already");

  // Killed after each step, and completed by the next start.
  const ways: Record<string, unknown>[] = [];
  for (let kill = 0; ; kill += 1) {
    const copy = path.join(folder, String(kill));
    await cp(rig.bot.dataDirectory, copy, { recursive: true });
    let steps = 0;
    const isKilled = await moveConversation(copy, name, "Salon", () => {
      if (steps === kill) throw new Error("killed");
      steps += 1;
    }).then(
      () => false,
      () => true,
    );
    await finishMove(copy);
    ways.push(await rows(copy));
    if (!isKilled) break;
  }
  expect(ways.length).toBeGreaterThan(5);
  for (const way of ways) expect(way).toEqual(ways.at(-1));

  expect(await data("move", name, "Salon")).toMatchObject({ code: 0 });
  await rig.bot.restart();
  ada.write("Who is my cat, dear salon?", 2);
  await ada.reads("Noted.", "Noted.", "Noted.");
  expect(systemOf("Who is my cat, dear salon?")).toContain("the salon");
  expect(JSON.stringify(model.requests("Who is my cat, dear salon?").at(-1))).toContain("Schrodinger");
  expect(JSON.stringify(await (await fetch(`${rig.bot.url}/health`)).json())).not.toContain(
    "conversation-class",
  );
});
