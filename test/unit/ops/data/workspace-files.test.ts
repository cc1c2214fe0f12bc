import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { exportData } from "../../../../ops/data/export-chat.ts";
import { forget } from "../../../../ops/data/forget.ts";
import { findTarget } from "../../../../ops/data/targets.ts";
import { createWorkspaceRig } from "../../workspace/workspace-rig.ts";

const ADA = "700471100";

let data: string;
let file: string;

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-workspace-"));
  const objects = path.join(data, "objects", "bot-MyBot");
  await mkdir(objects, { recursive: true });
  file = path.join(objects, `${"1".padStart(64, "0")}.sqlite`);
  const group = new DatabaseSync(file);
  group.exec("CREATE TABLE _cf_KV (key TEXT, value BLOB)");
  group.prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)").run(serialize("default/thread:telegram:-1009"));
  group.close();
});

afterEach(() => rm(data, { recursive: true, force: true }));

it("exports and forgets the files of a conversation in which a person has sent one, with their bytes", async () => {
  const database = createNodeDatabase(file);
  const { workspace } = createWorkspaceRig({}, database);
  await workspace.writeFile("/sent/a.txt", "of ada", { person: { userId: ADA, name: "Ada" } });
  database.close();
  const [exported] = exportData(data, ADA, () => 0).objects;
  expect(exported?.tables["workspace_file_v1"]).toEqual([expect.objectContaining({ path: "/sent/a.txt" })]);
  expect(exported?.tables["file_piece_v1"]).toEqual([expect.objectContaining({ bytes: btoa("of ada") })]);
  expect((await forget(data, findTarget(data, ADA))).objects).toHaveLength(1);
  expect(existsSync(file)).toBe(false);
});
