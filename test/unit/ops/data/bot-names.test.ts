import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moveData, storedName } from "../../../../ops/data/bot-names.ts";

const CONFIG = "/bots/tea/wrangler.jsonc";
const NOW = Date.UTC(2026, 10, 22, 12);
let data: string;

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-names-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** A bot has run under this name. */
async function ran(name: string, configFile = CONFIG): Promise<void> {
  await storedName(data, configFile, name, true);
  await mkdir(path.join(data, "objects", `${name}-MyBot`), { recursive: true });
}

/** The root of a bot, as its first start leaves it, and with a message if `isWrittenTo`. */
function root(name: string, isWrittenTo: boolean): void {
  const database = new DatabaseSync(path.join(data, "objects", `${name}-MyBot`, `${"a".repeat(64)}.sqlite`));
  database.exec("CREATE TABLE _cf_KV (key TEXT, value BLOB); CREATE TABLE directory_v2 (name TEXT)");
  database.prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)").run(serialize("default"));
  if (isWrittenTo) database.exec("INSERT INTO directory_v2 VALUES ('thread:telegram:1')");
  database.close();
}

const move = (from: string, to: string): Promise<string | undefined> => moveData(data, from, to, () => NOW);

describe("the name of a bot's data", () => {
  it("is the bot's own", async () => {
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
    await ran("tea");
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
  });

  it("is refused after a change of the name, with the way to move", async () => {
    await ran("tea");
    await expect(storedName(data, CONFIG, "coffee")).rejects.toMatchObject({
      code: "name-changed",
      message: expect.stringContaining("switchboard data move tea coffee"),
    });
    // Back to the old name, nothing has happened.
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
  });

  it("stays the old one after a move, also over a second one", async () => {
    await ran("tea");
    await move("tea", "coffee");
    expect(await storedName(data, CONFIG, "coffee")).toBe("tea");
    await expect(storedName(data, CONFIG, "cocoa")).rejects.toMatchObject({ code: "name-changed" });
    await move("coffee", "cocoa");
    expect(await storedName(data, CONFIG, "cocoa")).toBe("tea");
    await move("cocoa", "tea");
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
  });

  it("is refused from any path, because each release may have a folder of its own", async () => {
    await ran("tea", "/releases/1/build");
    const refusal = storedName(data, "/releases/2/build", "coffee");
    await expect(refusal).rejects.toMatchObject({
      code: "name-changed",
      message: expect.stringMatching(/"tea".*data move tea coffee.*--new-bot/),
    });
    expect(await storedName(data, "/releases/2/src/wrangler.jsonc", "tea")).toBe("tea");
  });

  it("is asked for once: a bot that was said to be new is that from any path", async () => {
    await ran("tea");
    expect(await storedName(data, "/bots/coffee/build", "coffee", true)).toBe("coffee");
    expect(await storedName(data, "/bots/coffee/wrangler.jsonc", "coffee")).toBe("coffee");
    await expect(storedName(data, CONFIG, "cocoa")).rejects.toMatchObject({ code: "name-changed" });
  });

  it("is asked for where several bots have data, and each of them goes on", async () => {
    await ran("tea");
    await ran("coffee", "/bots/coffee/wrangler.jsonc");
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
    expect(await storedName(data, "/elsewhere", "coffee")).toBe("coffee");
    await expect(storedName(data, "/elsewhere", "cocoa")).rejects.toMatchObject({
      message: expect.stringMatching(/"coffee" and "tea".*data move coffee cocoa.*data move tea cocoa/),
    });
  });

  it("is not asked for because of a folder that no bot has made", async () => {
    await mkdir(path.join(data, "objects", "kept"), { recursive: true });
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
  });

  it("is not mistaken for a longer one", async () => {
    await ran("tea-house");
    await expect(storedName(data, CONFIG, "tea")).rejects.toMatchObject({
      message: expect.stringContaining("data move tea-house tea."),
    });
  });

  it("is not asked for if nothing is stored, or by a list of bots of an earlier version", async () => {
    expect(await storedName(data, "/bots/new/wrangler.jsonc", "new")).toBe("new");
    expect(await storedName(data, "/bots/new/wrangler.jsonc", "newer")).toBe("newer");
    const before = {
      configurations: { "/bots/old": "tea", "/bots/other": "coffee" },
      storedAs: { coffee: "beans" },
    };
    await writeFile(path.join(data, "bots.json"), JSON.stringify(before));
    for (const name of ["tea", "beans"])
      await mkdir(path.join(data, "objects", `${name}-MyBot`), { recursive: true });
    expect(await storedName(data, "/bots/old", "tea")).toBe("tea");
    expect(await storedName(data, "/bots/moved", "coffee")).toBe("beans");
    await expect(storedName(data, "/bots/old", "cocoa")).rejects.toMatchObject({
      message: expect.stringMatching(/data move coffee cocoa.*data move tea cocoa/),
    });
  });

  it("goes to no bot that has messages of its own, and from none that has no data", async () => {
    await ran("tea");
    await ran("coffee", "/bots/coffee/wrangler.jsonc");
    root("coffee", true);
    await expect(move("tea", "coffee")).rejects.toMatchObject({ code: "data-exists" });
    await expect(move("cocoa", "milk")).rejects.toMatchObject({ code: "no-data" });
    // The data of coffee is still there under its new name.
    await move("coffee", "cocoa");
    await expect(move("tea", "cocoa")).rejects.toMatchObject({ code: "data-exists" });
  });

  it("goes to a bot that was started and got no message, whose data moves aside", async () => {
    await ran("tea");
    root("tea", true);
    await ran("coffee", "/bots/coffee/wrangler.jsonc");
    root("coffee", false);
    const aside = await move("tea", "coffee");
    expect(aside).toBe(path.join(data, "objects.before-2026-11-22T12-00-00-000Z"));
    expect(existsSync(path.join(aside ?? "", "coffee-MyBot"))).toBe(true);
    expect(await storedName(data, "/bots/coffee/wrangler.jsonc", "coffee")).toBe("tea");
    // Only one bot has data here now.
    await expect(storedName(data, CONFIG, "cocoa")).rejects.toMatchObject({
      message: expect.stringMatching(/data move coffee cocoa\./),
    });
  });
});
