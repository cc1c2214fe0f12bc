import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readBotEnvironment } from "../../../ops/serve/env-files.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-env-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the files with a bot's variables", () => {
  it("prefers the process, then .dev.vars, then .env", async () => {
    await writeFile(path.join(folder, ".env"), "A=env\nB=env\nC=env\nD=env\n");
    await writeFile(path.join(folder, ".dev.vars"), "# for development\nA=dev\nB='dev vars'\nD=dev\n");
    expect(await readBotEnvironment(folder, { A: "process", D: "" })).toEqual({
      values: { A: "process", B: "dev vars", C: "env", D: "" },
      names: ["A", "B", "C", "D"],
      files: [".dev.vars", ".env"],
    });
  });

  it("needs no file", async () => {
    expect(await readBotEnvironment(folder, { A: "process" })).toEqual({
      values: { A: "process" },
      names: [],
      files: [],
    });
  });

  it("says which file it cannot read, instead of going on without it", async () => {
    await mkdir(path.join(folder, ".env"));
    await expect(readBotEnvironment(folder, {})).rejects.toMatchObject({
      code: "env-file-unreadable",
      message: expect.stringContaining(path.join(folder, ".env")),
    });
  });
});
