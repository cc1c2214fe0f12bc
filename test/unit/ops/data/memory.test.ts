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
import { LocalStates } from "../../../../src/actions/memory/action-states.ts";
import { MemoryPlaces } from "../../../../src/memory/memory-places.ts";
import { changeRecord, readRecord } from "../../../../src/memory/memory-record.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const ADA = "700471100";
const BOB = "700471200";

let data: string;
let file: string;

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-memory-"));
  const objects = path.join(data, "objects", "bot-MyBot");
  await mkdir(objects, { recursive: true });
  file = path.join(objects, `${"1".padStart(64, "0")}.sqlite`);
  const root = new DatabaseSync(file);
  root.exec("CREATE TABLE _cf_KV (key TEXT, value BLOB)");
  root.prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)").run(serialize("default"));
  root.close();
  for (const userId of [ADA, BOB])
    await inPlace(userId, (place) =>
      changeRecord(place, (record) => ({
        record: {
          ...record,
          entries: [
            { id: "abc123", block: "customer", text: `Fact of ${userId.at(-3)}`, source: "noted", at: 1 },
          ],
        },
        result: undefined,
      })),
    );
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** Uses a person's place in the database of the root. */
async function inPlace<T>(
  userId: string,
  use: (place: ReturnType<MemoryPlaces["person"]>) => Promise<T>,
): Promise<T> {
  const database = createNodeDatabase(file);
  const states = new LocalStates(database, { clock: createVirtualClock(), newId: () => crypto.randomUUID() });
  const places = new MemoryPlaces({ botStates: () => states } as never);
  const result = await use(places.person({ messenger: "telegram", userId }));
  database.close();
  return result;
}

it("exports what is kept about a person", () => {
  const [root] = exportData(data, ADA, () => 0).objects;
  expect(JSON.stringify(root?.tables["action_state_v1"])).toContain("Fact of 1");
  expect(JSON.stringify(root)).not.toContain("Fact of 2");
});

it("forgets what is kept about a person, and about nobody else", async () => {
  await forget(data, findTarget(data, ADA));
  expect((await inPlace(ADA, readRecord)).entries).toEqual([]);
  expect((await inPlace(BOB, readRecord)).entries).toHaveLength(1);
});
