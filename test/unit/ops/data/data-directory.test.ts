import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storedName } from "../../../../ops/data/bot-names.ts";
import { dataDirectoryOf } from "../../../../ops/data/data-directory.ts";

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

  describe("of two configurations in one folder", () => {
    const configure = (...files: readonly string[]): void => {
      for (const file of files) writeFileSync(path.join(folder, file), "{}");
    };
    const served = (file: string): Promise<string> =>
      storedName(path.join(folder, ".data"), path.join(folder, file), "tea");

    it("is that of the first one, and the second one is refused before it can mix them", async () => {
      configure("wrangler.jsonc", "other.jsonc");
      expect(await find("wrangler.jsonc")).toBe(".data");
      await served("wrangler.jsonc");
      expect(await find("wrangler.jsonc")).toBe(".data");
      const error = await find("other.jsonc").catch((refusal: unknown) => refusal);
      expect(error).toMatchObject({ code: "data-of-other-bot" });
      expect(String(error)).toContain("such as DATA_DIR=.data-other");
      expect(String(error)).toContain(`for the same bot, set DATA_DIR=${path.join(folder, ".data")}.`);
      expect(await find("other.jsonc", ".data-other")).toBe(".data-other");
      expect(await find("other.jsonc", ".data")).toBe(".data");
    });

    it("stays shared if both were served with it before", async () => {
      configure("wrangler.jsonc", "other.jsonc");
      await served("wrangler.jsonc");
      await served("other.jsonc");
      for (const file of ["wrangler.jsonc", "other.jsonc"]) expect(await find(file)).toBe(".data");
    });

    it("stays that of a configuration which was renamed, or has another path", async () => {
      configure("wrangler.jsonc");
      await served("wrangler.jsonc");
      symlinkSync(path.join(folder, "wrangler.jsonc"), path.join(folder, "link.jsonc"));
      expect(await find("link.jsonc")).toBe(".data");
      renameSync(path.join(folder, "wrangler.jsonc"), path.join(folder, "bot.jsonc"));
      expect(await find("bot.jsonc")).toBe(".data");
      expect(await find("typo.jsonc")).toBe(".data");
    });

    it("is not looked for in the folder of a build, which is the same bot", async () => {
      configure("wrangler.jsonc");
      mkdirSync(path.join(folder, "dist"));
      await served("dist");
      expect(await find("wrangler.jsonc")).toBe(".data");
    });
  });
});
