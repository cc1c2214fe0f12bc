import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moveConversation, objectId } from "../../../../ops/data/move-conversation.ts";
import { rowsOf } from "../../../../ops/data/object-store.ts";

const NAME = "named:ada";
const AGENT = "named:agent-tool%3A1";
let data: string;

/** Adds an object with the tables that this SQL makes. */
function addObject(classKey: string, name: string, sql: string): void {
  const database = new DatabaseSync(fileOf(classKey, name));
  database.exec("CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB)");
  database.prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)").run(serialize(name));
  database.exec(sql);
  database.close();
}

function fileOf(classKey: string, name: string): string {
  return path.join(data, "objects", classKey, `${objectId(classKey, name)}.sqlite`);
}

async function addClass(classKey: string): Promise<void> {
  const folder = path.join(data, "objects", classKey);
  await mkdir(folder, { recursive: true });
  const metadata = new DatabaseSync(path.join(folder, "metadata.sqlite"));
  metadata.exec("CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER)");
  metadata.close();
}

/** A bot whose function chooses `Salon` for a conversation that is with `Shop`. */
async function addBot({ chosen = "Salon", turn = "ended" } = {}): Promise<void> {
  await addClass("bot-Shop");
  addObject(
    "bot-Shop",
    "default",
    `CREATE TABLE directory_v2 (name TEXT PRIMARY KEY);
     INSERT INTO directory_v2 VALUES ('${NAME}');
     CREATE TABLE conversation_class_v1 (conversation TEXT PRIMARY KEY, class_name TEXT, chosen_class TEXT);
     INSERT INTO conversation_class_v1 VALUES ('${NAME}', 'Shop', '${chosen}')`,
  );
  addObject(
    "bot-Shop",
    `default/${NAME}`,
    `CREATE TABLE turn_v1 (id TEXT PRIMARY KEY, state TEXT);
     INSERT INTO turn_v1 VALUES ('turn', '${turn}')`,
  );
}

/** Everything on disk, by its place. */
async function places(): Promise<string[]> {
  return (await readdir(data, { recursive: true })).filter((file) => !/-(wal|shm)$/.test(file)).toSorted();
}

beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "switchboard-move-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

describe("moving a conversation to another class", () => {
  it("takes its runs of other agents along, which find it under its new address", async () => {
    await addBot();
    await addClass("bot-Salon");
    await addClass("bot-Child");
    const run = JSON.stringify({ schedule: { keeper: NAME, taskId: "1" } });
    addObject(
      "bot-Child",
      `default/${AGENT}`,
      `CREATE TABLE scheduled_run_v1 (turn_id TEXT PRIMARY KEY, run TEXT);
       INSERT INTO scheduled_run_v1 VALUES ('1', '${run}')`,
    );
    await moveConversation(data, NAME, "Salon");
    expect(rowsOf(fileOf("bot-Salon", `default/${NAME}`), "turn_v1")).toMatchObject([{ id: "turn" }]);
    expect(rowsOf(fileOf("bot-Shop", "default"), "conversation_class_v1")).toMatchObject([
      { class_name: "Salon" },
    ]);
    const [kept] = rowsOf(fileOf("bot-Child", `default/${AGENT}`), "scheduled_run_v1");
    expect(JSON.parse(String(kept?.run))).toEqual({ schedule: { keeper: `Salon@${NAME}`, taskId: "1" } });
  });

  it.each<[string, string, string, () => Promise<void>]>([
    [
      "the bot was never served with the class",
      "class-unknown",
      "never served with the class Salon",
      () => addBot(),
    ],
    [
      "a turn has not ended",
      "conversation-busy",
      "Serve the bot until it has answered",
      async () => {
        await addBot({ turn: "running" });
        await addClass("bot-Salon");
      },
    ],
    [
      "the other class has an agent of the name with a memory of its own",
      "data-exists",
      "Two memories cannot become one",
      async () => {
        await addBot();
        await addClass("bot-Salon");
        addObject(
          "bot-Salon",
          `default/${NAME}`,
          "CREATE TABLE inbox_v1 (key TEXT); INSERT INTO inbox_v1 VALUES ('1')",
        );
      },
    ],
    [
      "the bot has not chosen the class",
      "class-not-chosen",
      "has not chosen Salon",
      () => addBot({ chosen: "Shop" }),
    ],
    [
      "nobody has the name",
      "conversation-unknown",
      "No conversation has the name",
      () => addClass("bot-Shop"),
    ],
    [
      "its object is not there",
      "conversation-unknown",
      `The object of ${NAME} is not in`,
      async () => {
        await addBot();
        await addClass("bot-Salon");
        await rm(fileOf("bot-Shop", `default/${NAME}`));
      },
    ],
  ])("is refused, and nothing is touched, if %s", async (_, code, message, add) => {
    await add();
    const before = await places();
    await expect(moveConversation(data, NAME, "Salon")).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
    expect(await places()).toEqual(before);
  });

  it("asks for the root if several have a conversation of the name", async () => {
    await addBot();
    addObject(
      "bot-Shop",
      "other",
      `CREATE TABLE directory_v2 (name TEXT PRIMARY KEY); INSERT INTO directory_v2 VALUES ('${NAME}')`,
    );
    await addClass("bot-Salon");
    await expect(moveConversation(data, NAME, "Salon")).rejects.toMatchObject({
      code: "conversation-unknown",
      message: expect.stringContaining(`give <root>/${NAME}`) as string,
    });
    await moveConversation(data, `default/${NAME}`, "Salon");
    expect(rowsOf(fileOf("bot-Salon", `default/${NAME}`), "turn_v1")).toHaveLength(1);
  });
});
