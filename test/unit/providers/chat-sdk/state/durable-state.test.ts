import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../../../lab/support/node-database.ts";
import { AdapterStateStore } from "../../../../../providers/chat-sdk/state/adapter-state-store.ts";
import { createDurableState } from "../../../../../providers/chat-sdk/state/durable-state.ts";
import type { DurableState } from "../../../../../providers/chat-sdk/state/durable-state.ts";
import { placeOf } from "../../../../../providers/chat-sdk/state/shards.ts";
import { createStateAtRoot } from "../../../../../providers/chat-sdk/state/state-at-root.ts";
import { createVirtualClock } from "../../../../support/virtual-clock.ts";
import type { VirtualClock } from "../../../../support/virtual-clock.ts";

const MINUTE = 60_000;
const SECRETS_KEY = Buffer.alloc(32, 1).toString("base64");

/** A bot of one root with its database, and as many other objects as a test opens. */
function createBot(env: object = { SECRETS_KEY }) {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const calls: string[] = [];
  const failures: unknown[] = [];
  const deps = { clock, newId: () => "id", random: () => 0, fetch };
  const part = createStateAtRoot({ messengerId: "slack", database, deps, env });
  const counted = new Proxy(part, {
    get: (target, method: keyof typeof part) => {
      calls.push(method);
      return target[method];
    },
  });
  const open = (): DurableState =>
    createDurableState({
      clock,
      at: () => counted,
      kindOf: (key) => (key.startsWith("token:") ? "secret" : key.startsWith("seen:") ? "claim" : undefined),
      onFailure: (error) => void failures.push(error),
    });
  return { database, clock, calls, failures, open };
}

const tablesOf = (database: NodeDatabase) =>
  database.all("SELECT name FROM sqlite_master WHERE type = 'table'");

describe("the state of an adapter", () => {
  it("has no table while nothing is kept", async () => {
    const { database, open } = createBot({});
    const state = open();
    expect(await state.get("a")).toBeNull();
    expect(await state.getList("a")).toEqual([]);
    await state.delete("a");
    await state.setIfNotExists("claim", true, MINUTE);
    await state.set("seen:1", true);
    await state.subscribe("slack:C1");
    expect(tablesOf(database)).toEqual([]);
  });

  it("gives every value to every object of the bot, also after a restart", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.jsonValue(), async (key, value) => {
        const { open } = createBot();
        await open().set(key, value);
        expect(await open().get(key)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 30 },
    );
  });

  it("keeps a token as ciphertext only, and deletes it", async () => {
    const { database, open } = createBot();
    await open().set("token:T1", { botToken: "xoxb-secret" });
    expect(await open().get("token:T1")).toEqual({ botToken: "xoxb-secret" });
    expect(tablesOf(database)).toEqual([{ name: "secret_v1" }]);
    await open().delete("token:T1");
    expect(await open().get("token:T1")).toBeNull();
    expect(database.all("SELECT * FROM secret_v1")).toEqual([]);
  });

  it("reports a token that cannot be read, which an adapter takes for a missing one", async () => {
    const bot = createBot({});
    await expect(bot.open().set("token:T1", "x")).rejects.toMatchObject({ code: "secrets-key-missing" });
    const { database, failures, open } = createBot();
    await open().set("token:T1", "x");
    database.run("UPDATE secret_v1 SET key_id = 'gone'");
    await expect(open().get("token:T1")).rejects.toMatchObject({ code: "secret-key-unknown" });
    expect(failures).toMatchObject([{ code: "secret-key-unknown" }]);
  });

  it("asks the root at most once a minute for a value, and at once after a refused token", async () => {
    const { calls, clock, open } = createBot();
    const root = open();
    await root.set("token:T1", "old");
    const other = open();
    calls.length = 0;
    for (let post = 0; post < 5; post += 1) expect(await other.get("token:T1")).toBe("old");
    expect(calls).toEqual(["read"]);
    await root.set("token:T1", "new");
    expect(await other.get("token:T1")).toBe("old");
    other.forget();
    expect(await other.get("token:T1")).toBe("new");
    await root.delete("token:T1");
    await clock.advance(MINUTE + 1);
    expect(await other.get("token:T1")).toBeNull();
  });

  it("sees at once what was missing a moment ago", async () => {
    const { open } = createBot();
    const other = open();
    expect(await other.get("token:T1")).toBeNull();
    await open().set("token:T1", "new");
    expect(await other.get("token:T1")).toBe("new");
  });

  it("forgets what has expired, and writes a known value only to make it last", async () => {
    const { clock, database, open } = createBot();
    await open().set("a", 1, 10 * MINUTE);
    const storedAt = () => database.all("SELECT stored_at FROM adapter_state_v1");
    const [first] = storedAt();
    await clock.advance(4 * MINUTE);
    await open().set("a", 1, 10 * MINUTE);
    expect(storedAt()).toEqual([first]);
    await clock.advance(2 * MINUTE);
    await open().set("a", 1, 10 * MINUTE);
    expect(storedAt()).not.toEqual([first]);
    await clock.advance(9 * MINUTE);
    expect(await open().get("a")).toBe(1);
    await clock.advance(2 * MINUTE);
    expect(await open().get("a")).toBeNull();
    await clock.advance(60 * MINUTE);
    await open().set("b", 1);
    expect(database.all("SELECT key FROM adapter_state_v1")).toEqual([{ key: "b" }]);
  });

  it("appends to one list from several objects, and keeps its newest values", async () => {
    const { open } = createBot();
    const [one, two] = [open(), open()];
    await Promise.all(
      [1, 2, 3, 4].map((item) => (item % 2 ? one : two).appendToList("l", item, { maxLength: 3 })),
    );
    expect(await open().getList("l")).toEqual([2, 3, 4]);
  });

  it("keeps the installations of all chats, however much adapters keep without an end", async () => {
    const { database, open } = createBot();
    const state = open();
    const MORE_THAN_FIT = 10_500;
    for (let chat = 0; chat < MORE_THAN_FIT; chat += 1) {
      await state.set(`switchboard:installation:C${chat}`, "T1");
      await state.set(`whatsapp:route:${chat}`, { phone: String(chat) });
    }
    await state.set("whatsapp:user:1", "Ada", MINUTE);
    const count = (like: string) =>
      database.all("SELECT COUNT(*) AS rows FROM adapter_state_v1 WHERE key LIKE ?", like);
    expect(await open().get("switchboard:installation:C0")).toBe("T1");
    expect(count("switchboard:installation:%")).toEqual([{ rows: MORE_THAN_FIT }]);
    const [{ rows } = { rows: 0 }] = count("whatsapp:%") as { readonly rows: number }[];
    expect(rows).toBeLessThanOrEqual(10_000);
    expect(await open().get(`whatsapp:route:${MORE_THAN_FIT - 1}`)).not.toBeNull();
  });

  it("refuses a value that is too large to keep, and drops such a cache", async () => {
    const { open } = createBot();
    const large = "x".repeat(70_000);
    await open().set("cache", large, MINUTE);
    expect(await open().get("cache")).toBeNull();
    await expect(open().set("kept", large)).rejects.toMatchObject({ code: "adapter-state-too-large" });
  });
});

describe("the table of the state", () => {
  const put = (
    store: AdapterStateStore,
    clock: VirtualClock,
    key: string,
    isCache: boolean,
    value = '"v"',
  ) => {
    store.put({ messengerId: "m", key, value, isCache, expiresAt: undefined });
    return clock.advance(1);
  };

  it("never has more caches than its limits, and keeps everything else", async () => {
    const entry = fc.tuple(fc.nat(30), fc.boolean(), fc.nat(40));
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 40, maxLength: 60 }), async (entries) => {
        const database = createNodeDatabase();
        const clock = createVirtualClock();
        const store = new AdapterStateStore(database, clock, { rows: 10, bytes: 300 });
        const kept = new Set<string>();
        for (const [id, isCache, length] of entries) {
          const key = `${isCache ? "c" : "k"}${id}`;
          await put(store, clock, key, isCache, JSON.stringify("x".repeat(length)));
          const rows = database.all<{ key: string; value: string }>(
            "SELECT key, value FROM adapter_state_v1",
          );
          const caches = rows.filter((row) => row.key.startsWith("c"));
          const bytes = caches.reduce((sum, row) => sum + row.key.length + row.value.length, 0);
          expect(caches.length).toBeLessThanOrEqual(10);
          expect(bytes).toBeLessThanOrEqual(300);
          if (!isCache) kept.add(key);
          const has = new Set(rows.map((row) => row.key));
          expect([...kept].filter((one) => !has.has(one))).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("gives up the oldest caches first, and those that never expire last", async () => {
    const database = createNodeDatabase();
    const clock = createVirtualClock();
    const store = new AdapterStateStore(database, clock, { rows: 3, bytes: 1000 });
    const keys = () => database.all("SELECT key FROM adapter_state_v1 ORDER BY key").map(({ key }) => key);
    const putExpiring = (key: string) =>
      store.put({ messengerId: "m", key, value: "1", isCache: true, expiresAt: clock.now() + MINUTE });
    await put(store, clock, "a", true);
    putExpiring("b");
    for (const key of ["c", "d"]) await put(store, clock, key, true);
    expect(keys()).toEqual(["a", "c", "d"]);
    await put(store, clock, "e", true);
    expect(keys()).toEqual(["c", "d", "e"]);
  });
});

it("keeps everything at the root unless a shard is named", () => {
  const none = { keyShard: undefined, shardKey: undefined, stateRoot: undefined };
  expect(placeOf(none, "slack:user:U1")).toEqual({ shard: undefined, root: undefined });
  const shards = {
    stateRoot: "main",
    keyShard: (key: string) => (key.startsWith("slack:user:") ? "people" : undefined),
    shardKey: (threadId: string) => threadId.split(":").slice(0, 2).join(":"),
  };
  expect(placeOf(shards, "slack:user:U1")).toEqual({ shard: "people", root: "main" });
  expect(placeOf(shards, "thread-state:slack:C1:1.1")).toEqual({ shard: "slack:C1", root: "main" });
  expect(placeOf(shards, "slack:installation:T1")).toEqual({ shard: undefined, root: "main" });
  // One store has all secrets.
  expect(placeOf(shards, "slack:user:U1", "secret")).toEqual({ shard: undefined, root: "main" });
});
