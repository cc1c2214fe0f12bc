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
import { SignIns } from "../../../../src/mcp-client/sign-ins.ts";
import { FakeOAuth } from "../../../support/fake-oauth.ts";
import { recordLog } from "../../../support/log-recorder.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const ORIGIN = "https://docs.example";
const ADA = "700471100";
const BOB = "700471200";

let data: string;
let file: string;

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-connections-"));
  const objects = path.join(data, "objects", "bot-MyBot");
  await mkdir(objects, { recursive: true });
  file = path.join(objects, `${"1".padStart(64, "0")}.sqlite`);
  const root = new DatabaseSync(file);
  root.exec("CREATE TABLE _cf_KV (key TEXT, value BLOB)");
  root.prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)").run(serialize("default"));
  root.close();
  await connectBoth();
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** Ada and Bob are connected, and have another link that is open. */
async function connectBoth(): Promise<void> {
  const database = createNodeDatabase(file);
  const oauth = new FakeOAuth(ORIGIN);
  let ids = 0;
  const signIns = new SignIns({
    database,
    env: { SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") },
    deps: {
      clock: createVirtualClock(),
      newId: () => `state-${(ids += 1)}`,
      random: () => 0,
      fetch: async (url, init) => (await oauth.answer(new Request(url, init))) ?? new Response(),
    },
    log: recordLog().log,
    servers: () => ({ docs: { url: `${ORIGIN}/mcp`, auth: "person" } }),
    publicUrl: () => "https://bot.example",
  });
  for (const userId of [ADA, BOB]) {
    const open = async (): Promise<readonly [state: string, address: string]> => {
      const { url } = signIns.begin("docs", { messenger: "telegram", userId }, "somebody");
      const state = new URL(url).searchParams.get("begin") ?? "";
      return [state, (await signIns.page("docs", state))?.address ?? ""];
    };
    const [state, address] = await open();
    const back = (await oauth.answer(new Request(address)))?.headers.get("location") ?? "";
    const code = new URL(back).searchParams.get("code") ?? "";
    expect((await signIns.finish("docs", state, code, ORIGIN)).kind).toBe("connected");
    await open();
  }
  database.close();
}

/** The rows of the root that are about people's connections. */
function stored(): readonly string[] {
  const root = new DatabaseSync(file);
  const tables = ["mcp_sign_in_v1", "mcp_connection_v1", "secret_v1"];
  const rows = tables.flatMap((table) =>
    root
      .prepare(`SELECT * FROM ${table}`)
      .all()
      .map((row) => `${table} ${String(row["user_id"] ?? row["name"])}`),
  );
  root.close();
  return rows.map((row) => row.replace(/[0-9a-f]{16,}/g, "hash")).toSorted();
}

const rowsOf = (person: string): readonly string[] => [
  `mcp_connection_v1 ${person}`,
  `mcp_sign_in_v1 ${person}`,
  `secret_v1 mcp-token/docs/hash/telegram/${person}`,
  `secret_v1 mcp-verifier/hash/telegram/${person}`,
];
const client = "secret_v1 mcp-client/docs/hash";

it("forgets a person's connections, links, tokens and verifiers, and nobody else's", async () => {
  expect(stored()).toEqual([...rowsOf(ADA), ...rowsOf(BOB), client].toSorted());
  await forget(data, findTarget(data, ADA));
  expect(stored()).toEqual([...rowsOf(BOB), client].toSorted());
});

it("exports to which servers a person is connected, and no token", () => {
  const [root] = exportData(data, ADA, () => 0).objects;
  expect(root?.tables["mcp_connection_v1"]).toEqual([
    expect.objectContaining({ server: "docs", user_id: ADA }),
  ]);
  expect(Object.keys(root?.tables ?? {}).toSorted()).toEqual(["mcp_connection_v1", "mcp_sign_in_v1"]);
  expect(JSON.stringify(root)).not.toMatch(/of-the-server|sealed/);
});
