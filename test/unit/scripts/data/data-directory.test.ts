import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storedName } from "../../../../scripts/data/bot-names.ts";
import { dataDirectoryOf } from "../../../../scripts/data/data-directory.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "switchboard-data-directory-"));
  for (const name of ["tea", "coffee", ".data"]) mkdirSync(path.join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Where the data of a bot is, relative to the current folder. */
async function find(config: string | undefined, variable?: string): Promise<string> {
  const configFile = config === undefined ? undefined : path.join(folder, config);
  const environment = { DATA_DIR: variable };
  return path.relative(folder, await dataDirectoryOf({ folder, environment, configFile }));
}

describe("the storage of a bot", () => {
  it("is beside its configuration, so that each bot of a folder has its own", async () => {
    expect(await find("tea/wrangler.jsonc")).toBe("tea/.data");
    expect(await find("coffee/wrangler.jsonc")).toBe("coffee/.data");
    expect(await find("wrangler.jsonc")).toBe(".data");
  });

  it("is in the current folder for a build, and where DATA_DIR says for all", async () => {
    expect(await find(undefined)).toBe(".data");
    expect(await find("tea/wrangler.jsonc", "store")).toBe("store");
    expect(await find(undefined, "store")).toBe("store");
    expect(await find("tea/wrangler.jsonc", "")).toBe("tea/.data");
  });

  it("stays in the current folder if the bot was served with it, until it has one of its own", async () => {
    await storedName(path.join(folder, ".data"), path.join(folder, "tea/wrangler.jsonc"), "tea");
    expect(await find("tea/wrangler.jsonc")).toBe(".data");
    expect(await find("coffee/wrangler.jsonc")).toBe("coffee/.data");
    mkdirSync(path.join(folder, "tea/.data"));
    expect(await find("tea/wrangler.jsonc")).toBe("tea/.data");
  });
});
