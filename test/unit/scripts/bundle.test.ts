import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hashInputs } from "../../../scripts/serve/bundle.ts";

let root: string;
let configFile: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "switchboard-hash-"));
  configFile = path.join(root, "wrangler.jsonc");
  await writeFile(configFile, "{}");
  await writeFile(path.join(root, "package-lock.json"), "{}");
  await writeFile(path.join(root, "a.ts"), "a");
  await writeFile(path.join(root, "b.ts"), "b");
});
afterEach(() => rm(root, { recursive: true }));

const key = (...inputs: string[]): Promise<string> => hashInputs(inputs, configFile, root);

it("gives the same key for unchanged sources", async () => {
  expect(await key("a.ts", "b.ts")).toBe(await key("a.ts", "b.ts"));
});

it.each([
  ["a source changes", "a.ts", "changed"],
  ["the configuration changes", "wrangler.jsonc", '{ "x": 1 }'],
  ["an installed package changes", "package-lock.json", '{ "x": 1 }'],
])("gives another key when %s", async (_case, file, content) => {
  const before = await key("a.ts", "b.ts");
  await writeFile(path.join(root, file), content);
  expect(await key("a.ts", "b.ts")).not.toBe(before);
});

it("gives another key when text moves from one source to the next, or a source is gone", async () => {
  await writeFile(path.join(root, "a.ts"), "ab");
  await writeFile(path.join(root, "b.ts"), "");
  const moved = await key("a.ts", "b.ts");
  await rm(path.join(root, "b.ts"));
  expect(new Set([moved, await key("a.ts", "b.ts"), await key("a.ts")]).size).toBe(3);
});
