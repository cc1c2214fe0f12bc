import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../cli/run-command.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { newcomer, readsLike, rehearse, type Person } from "./rehearsal.ts";

const ADA_SAID = "my cat is called Schrodinger";
const BOB_SAID = "my dog is called Laika";
const CYD_SAID = "my parrot is called Kepler";
const ADA_SAID_TO_ALL = "I am allergic to peanuts";

let rig: Rig;
let folder: string;
let ada: Person;
let bob: Person;
let group: SimChat;
let others: SimChat;
let cyd: Person;
let club: SimChat;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-data-"));
  rig = await startRig();
  rehearse(rig);
  ada = newcomer(rig, "Ada");
  bob = newcomer(rig, "Bob");
  cyd = newcomer(rig, "Cyd Charisse");
  const members = [ada.user, bob.user];
  group = rig.simulator.addGroup({ title: "Team", members });
  others = rig.simulator.addGroup({ title: "Others", members: [bob.user] });
  club = rig.simulator.addGroup({ title: "Club", members: [cyd.user] });
  ada.write(ADA_SAID);
  bob.write(BOB_SAID);
  rig.simulator.sendText(group, ada.user, `@switchboard_bot ${ADA_SAID_TO_ALL}`);
  rig.simulator.sendText(others, bob.user, "@switchboard_bot hello");
  rig.simulator.sendText(club, cyd.user, `@switchboard_bot ${CYD_SAID}`);
  await ada.reads("Noted.");
  await bob.reads("Noted.");
  await readsLike(rig, group, ["Noted."]);
  await readsLike(rig, others, ["Noted."]);
  await readsLike(rig, club, ["Noted."]);
});
afterAll(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

async function data(...parameters: string[]): Promise<{ code: number; result: Record<string, unknown> }> {
  let output = "";
  const code = await runCommand(["data", ...parameters, "--json"], {
    folder,
    environment: { DATA_DIR: rig.bot.dataDirectory },
    isInteractive: false,
    write: (text) => (output += text),
    writeError: () => undefined,
  });
  return { code, result: JSON.parse(output) as Record<string, unknown> };
}

/** Every cell of every table of every object, and the bytes of every file. */
async function everything(dataDirectory: string): Promise<{ cells: string; bytes: string; files: number }> {
  const objects = path.join(dataDirectory, "objects");
  let cells = "";
  let bytes = "";
  let files = 0;
  for (const name of await readdir(objects, { recursive: true })) {
    const file = path.join(objects, name);
    if (!/\.sqlite(?:-wal)?$/.test(name)) continue;
    bytes += await readFile(file, "latin1");
    if (!name.endsWith(".sqlite")) continue;
    files += 1;
    const database = new DatabaseSync(file, { readOnly: true });
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name: table } of tables) {
      const statement = database.prepare(`SELECT * FROM "${String(table)}"`);
      statement.setReadBigInts(true);
      for (const row of statement.iterate()) {
        for (const value of Object.values(row)) {
          cells += `${value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)}\n`;
        }
      }
    }
    database.close();
  }
  return { cells, bytes, files };
}

describe("the data of a served bot", () => {
  it("is listed, exported and copied while the bot runs", async () => {
    const usage = await data("usage");
    expect(usage.result.conversations).toHaveLength(5);
    expect(usage.result.conversations).toContainEqual(
      expect.objectContaining({
        messenger: "telegram",
        chat: String(ada.chat.id),
        bytes: expect.any(Number),
      }),
    );
    expect((await data("export", String(ada.chat.id), "--out", "ada.json")).code).toBe(0);
    const exported = await readFile(path.join(folder, "ada.json"), "utf8");
    expect(exported).toContain(ADA_SAID);
    expect(exported).not.toContain(BOB_SAID);
    expect(await data("backup", "copy")).toMatchObject({ code: 0, result: { files: expect.any(Number) } });
    expect(await data("verify", "copy")).toMatchObject({ code: 0 });
    ada.write("and one more", 1);
    await ada.reads("Noted.", "Noted.");
  });

  it("is not changed while the bot runs, or without a yes", async () => {
    const id = String(ada.chat.id);
    expect(await data("forget", id, "--yes")).toMatchObject({
      code: 1,
      result: { error: { code: "data-in-use" } },
    });
    expect(await data("restore", "copy", "--yes")).toMatchObject({
      result: { error: { code: "data-in-use" } },
    });
    await rig.bot.stop();
    expect(await data("forget", id)).toMatchObject({ result: { error: { code: "not-confirmed" } } });
    expect((await everything(rig.bot.dataDirectory)).cells).toContain(ADA_SAID);
    expect(await data("forget", "99999999", "--yes")).toMatchObject({
      result: { error: { code: "target-unknown" } },
    });
  });

  it("keeps nothing of a person who is forgotten, in any table, and everything of others", async () => {
    const before = await everything(rig.bot.dataDirectory);
    expect(before.cells).toContain(ADA_SAID_TO_ALL);
    const { code, result } = await data("forget", String(ada.user.id), "--yes");
    expect(code).toBe(0);
    // Her private chat, and the group in which she wrote.
    expect(result.objects).toHaveLength(2);
    const { bytes, cells, files } = await everything(rig.bot.dataDirectory);
    expect(files).toBe(before.files - 2);
    for (const text of [cells, bytes]) {
      for (const trace of [ADA_SAID, ADA_SAID_TO_ALL, String(ada.user.id)]) expect(text).not.toContain(trace);
    }
    expect(cells).toContain(BOB_SAID);
    expect(cells).toContain(String(others.id));

    await rig.bot.restart();
    bob.write("do you remember?", 2);
    ada.write("do you remember me?", 2);
    await bob.reads("Noted.", "Noted.");
    await ada.reads("Noted.", "Noted.", "Noted.");
    const requests = rig.model.requests().map((request) => JSON.stringify(request));
    expect(requests.find((request) => request.includes("do you remember?"))).toContain(BOB_SAID);
    expect(requests.find((request) => request.includes("do you remember me?"))).not.toContain(ADA_SAID);
  });

  it("is as it was after a restore, and what was there is kept aside", async () => {
    await rig.bot.stop();
    const { code, result } = await data("restore", "copy", "--yes");
    expect(code).toBe(0);
    expect((await everything(rig.bot.dataDirectory)).cells).toContain(ADA_SAID_TO_ALL);
    expect(await readdir(String(result.aside))).not.toEqual([]);
    await rig.bot.restart();
    ada.write("and now?", 3);
    await ada.reads("Noted.", "Noted.", "Noted.", "Noted.");
    const asked = rig.model.requests().map((request) => JSON.stringify(request));
    expect(asked.find((request) => request.includes("and now?"))).toContain(ADA_SAID);
  });

  it("is not restored from a damaged backup", async () => {
    const copies = await readdir(path.join(folder, "copy", "objects"), { recursive: true });
    const some = copies.find((name) => name.endsWith(".sqlite")) ?? "";
    await writeFile(path.join(folder, "copy", "objects", some), "not a database");
    expect(await data("verify", "copy")).toMatchObject({
      code: 1,
      result: { error: { code: "backup-damaged" } },
    });
    await rig.bot.stop();
    expect(await data("restore", "copy", "--yes")).toMatchObject({
      result: { error: { code: "backup-damaged" } },
    });
    expect((await everything(rig.bot.dataDirectory)).cells).toContain(ADA_SAID_TO_ALL);
  });

  it("keeps nothing of a person who wrote in a group only", async () => {
    const before = await everything(rig.bot.dataDirectory);
    expect(before.cells).toContain(CYD_SAID);
    expect(await data("forget", "5", "--yes")).toMatchObject({
      result: { error: { code: "target-unknown" } },
    });
    expect((await everything(rig.bot.dataDirectory)).cells).toBe(before.cells);
    expect(await data("forget", String(cyd.user.id), "--yes")).toMatchObject({ code: 0 });
    const { bytes, cells } = await everything(rig.bot.dataDirectory);
    for (const text of [cells, bytes]) {
      for (const trace of [CYD_SAID, String(cyd.user.id)]) expect(text).not.toContain(trace);
    }
    expect(cells).toContain(BOB_SAID);
  });
});
