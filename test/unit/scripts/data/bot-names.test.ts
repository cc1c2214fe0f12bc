import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moveData, storedName } from "../../../../scripts/data/bot-names.ts";

const CONFIG = "/bots/tea/wrangler.jsonc";
let data: string;

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-names-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** A bot has run under this name. */
async function ran(name: string, configFile = CONFIG): Promise<void> {
  await storedName(data, configFile, name);
  await mkdir(path.join(data, "objects", `${name}-MyBot`), { recursive: true });
}

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
    await moveData(data, "tea", "coffee");
    expect(await storedName(data, CONFIG, "coffee")).toBe("tea");
    await expect(storedName(data, CONFIG, "cocoa")).rejects.toMatchObject({ code: "name-changed" });
    await moveData(data, "coffee", "cocoa");
    expect(await storedName(data, CONFIG, "cocoa")).toBe("tea");
    await moveData(data, "cocoa", "tea");
    expect(await storedName(data, CONFIG, "tea")).toBe("tea");
  });

  it("is no obstacle for another bot on the same data directory, or for one without data", async () => {
    await ran("tea");
    expect(await storedName(data, "/bots/other/wrangler.jsonc", "other")).toBe("other");
    await storedName(data, "/bots/new/wrangler.jsonc", "new");
    expect(await storedName(data, "/bots/new/wrangler.jsonc", "newer")).toBe("newer");
  });

  it("goes to no bot that has data of its own, and from none that has no data", async () => {
    await ran("tea");
    await ran("coffee", "/bots/coffee/wrangler.jsonc");
    await expect(moveData(data, "tea", "coffee")).rejects.toMatchObject({ code: "data-exists" });
    await expect(moveData(data, "cocoa", "milk")).rejects.toMatchObject({ code: "no-data" });
  });
});
