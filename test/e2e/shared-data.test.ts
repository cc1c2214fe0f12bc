import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callTool, answer, testBot, type TestChat } from "../../testing/index.ts";
import { readPage, codeExamples } from "../support/doc-pages.ts";

const PAGE = "docs/guides/shared-data.md";
const root = path.resolve(import.meta.dirname, "../..");

let folder: string;
let ann: TestChat;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-shared-data-"));
  const [sample = ""] = codeExamples(PAGE);
  await writeFile(path.join(folder, "worker.ts"), sample);
  const types = { extends: path.join(root, "tsconfig.base.json") };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(types));
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const configuration = JSON.parse(
    /```json\n([\s\S]*?)```/.exec(readPage("docs/learn/first-bot.md"))?.[1] ?? "",
  ) as object;
  const config = path.join(folder, "wrangler.jsonc");
  await writeFile(config, JSON.stringify({ ...configuration, main: "worker.ts" }));
  ann = await testBot({ name: "MyBot" }, { config });
});
afterAll(async () => {
  await ann.bot.close();
  await rm(folder, { recursive: true, force: true });
});

it("keeps one book for all chats, and gives nobody a seat twice", async () => {
  ann.bot.model.script(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return [answer(JSON.stringify(last.content))];
    return [callTool("book_table", { day: "2026-12-24", people: 12, name: "Guest" })];
  });
  const ben = ann.bot.person("Ben");
  await ann.say("A table for twelve");
  expect(await ann.reply()).toContain("Booked.");
  await ben.say("A table for twelve");
  expect(await ben.reply()).toContain("Only 8 seats are free.");
});
