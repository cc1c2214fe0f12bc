import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { backUp, verifyBackup } from "../../../../ops/data/snapshot.ts";
import { writeControl } from "../../../../ops/serve/control-file.ts";

const OBJECTS = 8;

/** Hands a number from object to object, as fast as it can: each has the number of the one before, or one less. */
const WRITER = `
  const { DatabaseSync } = require("node:sqlite");
  const path = require("node:path");
  const objects = Array.from({ length: ${OBJECTS} }, (_, index) => {
    const database = new DatabaseSync(path.join(process.argv[1], String(index).padStart(64, "0") + ".sqlite"));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE number (value INTEGER); INSERT INTO number VALUES (0)");
    return database.prepare("UPDATE number SET value = ?");
  });
  console.log("ready");
  for (let value = 1; ; value += 1) for (const object of objects) object.run(value);
`;

let data: string;
let objects: string;
let writer: ChildProcess | undefined;

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-backup-"));
  objects = path.join(data, "objects", "bot-Bot");
  await mkdir(objects, { recursive: true });
});
afterEach(async () => {
  if (writer?.exitCode === null && writer.signalCode === null) {
    writer.kill("SIGKILL");
    await once(writer, "close");
  }
  await rm(data, { recursive: true, force: true });
});

async function startWriter(): Promise<number> {
  writer = spawn(process.execPath, ["-e", WRITER, objects], { stdio: ["ignore", "pipe", "inherit"] });
  if (writer.stdout === null) throw new Error("The writer has no output.");
  await once(writer.stdout, "data");
  return writer.pid ?? 0;
}

async function numbersIn(folder: string): Promise<number[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sqlite")).toSorted();
  return files.map((name) => {
    const database = new DatabaseSync(path.join(folder, name), { readOnly: true });
    try {
      return Number(database.prepare("SELECT value FROM number").get()?.["value"]);
    } finally {
      database.close();
    }
  });
}

describe("a backup", () => {
  it("has all objects of a running bot at the same moment, and the bot goes on", async () => {
    const workerdPid = await startWriter();
    await writeControl(data, { url: "http://127.0.0.1:1", pid: process.pid, workerdPid, adminToken: "t" });
    for (const name of ["first", "second"]) {
      const target = path.join(data, name);
      await backUp(data, target, Date.now);
      await verifyBackup(target);
      const numbers = await numbersIn(path.join(target, "objects", "bot-Bot"));
      expect(numbers).toHaveLength(OBJECTS);
      // The number was on its way from one object to the next.
      expect(numbers[0]).toBeGreaterThanOrEqual(numbers.at(-1) ?? Infinity);
      expect((numbers[0] ?? Infinity) - (numbers.at(-1) ?? 0)).toBeLessThanOrEqual(1);
      expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    }
    const [first, second] = await Promise.all(
      ["first", "second"].map((name) => numbersIn(path.join(data, name, "objects", "bot-Bot"))),
    );
    expect(second?.[0]).toBeGreaterThan(first?.[0] ?? Infinity);
    expect((await readdir(data)).filter((name) => /\.(?:raw|part)$/.test(name))).toEqual([]);
  });

  it("copies a bot that does not run, and one whose process is gone", async () => {
    const database = new DatabaseSync(path.join(objects, `${"0".repeat(64)}.sqlite`));
    database.exec("CREATE TABLE number (value INTEGER); INSERT INTO number VALUES (7)");
    database.close();
    await backUp(data, path.join(data, "copy"), Date.now);
    expect(await numbersIn(path.join(data, "copy", "objects", "bot-Bot"))).toEqual([7]);
    const gone = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    await once(gone, "close");
    const control = { url: "http://127.0.0.1:1", pid: process.pid, adminToken: "t" };
    await writeControl(data, { ...control, workerdPid: gone.pid });
    await expect(backUp(data, path.join(data, "another"), Date.now)).rejects.toMatchObject({
      code: "data-in-use",
    });
  });
});
