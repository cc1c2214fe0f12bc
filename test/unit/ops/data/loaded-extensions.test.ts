import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { expect, it, onTestFinished } from "vitest";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { exportData } from "../../../../ops/data/export-chat.ts";
import { forget } from "../../../../ops/data/forget.ts";
import { findTarget } from "../../../../ops/data/targets.ts";
import { ExtensionStore } from "../../../../src/extensions/extension-store.ts";

const ADA = "700471100";

it("exports and forgets the extensions that bot code has loaded for a person", async () => {
  const data = await mkdtemp(path.join(tmpdir(), "switchboard-extensions-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const objects = path.join(data, "objects", "bot-MyBot");
  await mkdir(objects, { recursive: true });
  const file = path.join(objects, `${"1".padStart(64, "0")}.sqlite`);
  const conversation = new DatabaseSync(file);
  conversation.exec("CREATE TABLE _cf_KV (key TEXT, value BLOB)");
  conversation
    .prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)")
    .run(serialize(`default/thread:telegram:${ADA}`));
  conversation.close();
  const database = createNodeDatabase(file);
  const manifest = { name: "journal", version: "1.0.0" };
  new ExtensionStore(database).put({ name: "journal", manifest, source: "({ tools: {} })", loadedAt: 1 });
  database.close();

  const [exported] = exportData(data, ADA, () => 0).objects;
  expect(exported?.tables["extension_v1"]).toEqual([
    expect.objectContaining({ name: "journal", source: "({ tools: {} })" }),
  ]);
  expect((await forget(data, findTarget(data, ADA))).objects).toHaveLength(1);
  expect(existsSync(file)).toBe(false);
});
