import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const sources = (folder: string) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => ({ name: `${folder}/${name}`, text: read(`${folder}/${name}`) }));

describe("the examples", () => {
  it("show the same bot in the README as in the folder", () => {
    const block = /```ts\n(?<code>[\s\S]*?)```/.exec(read("README.md"))?.groups?.["code"];
    expect(block).toBe(read("examples/minimal/worker.ts"));
  });

  it("stay small", () => {
    const lines = (folder: string) =>
      sources(folder).reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
    for (const { name, text } of sources("examples/support-bot"))
      expect({ name, lines: text.split("\n").length < 150 }).toEqual({ name, lines: true });
    expect(lines("examples/minimal")).toBeLessThanOrEqual(18);
  });

  it("use only what the package exports", () => {
    const allowed =
      /^(\.\/(skills\/)?[\w-]+\.(ts|txt)|switchboard(\/codemode|\/extensions|\/mcp|\/memory|\/undo|\/skills|\/workspace|\/messengers(\/telegram)?)?|ai|zod|@modelcontextprotocol\/client|@cantoo\/pdf-lib|@chat-adapter\/[a-z]+)$/;
    const all = [
      "support-bot",
      "digest-bot",
      "everywhere",
      "mcp-bot",
      "mcp-bot/buyer",
      "skills-bot",
      "analyst-bot",
      "minimal",
    ].flatMap((name) => sources(`examples/${name}`));
    for (const { name, text } of all) {
      const imported = [...text.matchAll(/from "(?<from>[^"]+)"/g)].map(
        (match) => match.groups?.["from"] ?? "",
      );
      const foreign = imported.filter((from) => !allowed.test(from));
      expect({ name, foreign }).toEqual({ name, foreign: [] });
    }
  });
});
