import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../../lab/support/node-database.ts";
import { requireSecretsKey, SecretBox } from "../../../../src/core/store/secret-box.ts";
import { SecretStore } from "../../../../src/core/store/secret-store.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

/** A key whose bytes are all the same. */
const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const env = { SECRETS_KEY: keyOf(1) };

const storeOf = (database: NodeDatabase, environment: object = env): SecretStore =>
  new SecretStore({ database, env: environment, clock: createVirtualClock() });

/** Everything that a backup of the database holds, as text. */
const dumpOf = (database: NodeDatabase): string =>
  database
    .all<{ name: string; sealed: ArrayBuffer }>("SELECT * FROM secret_v1")
    .map(({ sealed, ...rest }) => JSON.stringify(rest) + Buffer.from(sealed).toString("latin1"))
    .join();

describe("the secret store", () => {
  it("has no table before the first secret, whatever it is asked", async () => {
    const database = createNodeDatabase();
    const store = storeOf(database, {});
    expect(await store.get("a")).toBeUndefined();
    store.delete("a");
    expect(database.all("SELECT name FROM sqlite_master")).toEqual([]);
  });

  it("gives back every text under its name, also to the next process", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.string({ unit: "binary" }), { maxKeys: 4 }),
        async (secrets) => {
          const database = createNodeDatabase();
          for (const [name, text] of Object.entries(secrets)) await storeOf(database).put(name, text);
          const next = storeOf(database);
          for (const [name, text] of Object.entries(secrets))
            expect(await next.get(name)).toBe(text.toWellFormed());
        },
      ),
      { numRuns: 30 },
    );
  });

  it("stores only ciphertext, another one each time", async () => {
    const database = createNodeDatabase();
    const store = storeOf(database);
    await store.put("team", "xoxb-very-secret");
    const first = dumpOf(database);
    await store.put("team", "xoxb-very-secret");
    expect(first).not.toContain("xoxb");
    expect(dumpOf(database)).not.toBe(first);
  });

  it("refuses a row that was moved to another name, or changed in any bit", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 0, max: 7 }), async (at, bit) => {
        const database = createNodeDatabase();
        const store = storeOf(database);
        await store.put("ada", "her token");
        await store.put("eve", "other one");
        database.run(
          "UPDATE secret_v1 SET sealed = (SELECT sealed FROM secret_v1 WHERE name = 'ada') WHERE name = 'eve'",
        );
        await expect(store.get("eve")).rejects.toMatchObject({ code: "secret-unreadable" });
        const [row] = database.all<{ sealed: ArrayBuffer }>(
          "SELECT sealed FROM secret_v1 WHERE name = 'ada'",
        );
        const bytes = new Uint8Array(row?.sealed ?? new ArrayBuffer(0));
        const index = at % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
        database.run("UPDATE secret_v1 SET sealed = ? WHERE name = 'ada'", bytes.buffer);
        await expect(store.get("ada")).rejects.toMatchObject({ code: "secret-unreadable" });
      }),
      { numRuns: 30 },
    );
  });

  it("reads secrets of older keys, and seals them again with the newest when it starts", async () => {
    const database = createNodeDatabase();
    await storeOf(database, { SECRETS_KEY: keyOf(1) }).put("a", "one");
    await storeOf(database, { SECRETS_KEY: keyOf(2), SECRETS_KEYS_OLD: keyOf(1) }).put("b", "two");
    const rotated = storeOf(database, {
      SECRETS_KEY: keyOf(3),
      SECRETS_KEYS_OLD: `${keyOf(2)}, ${keyOf(1)}`,
    });
    expect(await rotated.get("a")).toBe("one");
    const newest = storeOf(database, { SECRETS_KEY: keyOf(3) });
    expect([await newest.get("a"), await newest.get("b")]).toEqual(["one", "two"]);
  });

  it("names the missing key when a secret of another one is read, and keeps the row", async () => {
    const database = createNodeDatabase();
    await storeOf(database, { SECRETS_KEY: keyOf(1) }).put("a", "one");
    const other = storeOf(database, { SECRETS_KEY: keyOf(2) });
    await expect(other.get("a")).rejects.toMatchObject({
      code: "secret-key-unknown",
      message: expect.stringContaining("SECRETS_KEYS_OLD") as string,
    });
    expect(await storeOf(database).get("a")).toBe("one");
  });

  it("deletes a secret for good", async () => {
    const database = createNodeDatabase();
    const store = storeOf(database);
    await store.put("a", "one");
    store.delete("a");
    expect(await store.get("a")).toBeUndefined();
    expect(database.all("SELECT * FROM secret_v1")).toEqual([]);
  });

  it("takes no more secrets when it is full, and keeps the ones that it has", async () => {
    const database = createNodeDatabase();
    const store = new SecretStore({ database, env, clock: createVirtualClock() }, 2);
    await store.put("a", "1");
    await store.put("b", "2");
    await expect(store.put("c", "3")).rejects.toMatchObject({ code: "secrets-full" });
    await store.put("a", "4");
    expect(await store.get("a")).toBe("4");
  });
});

describe("SECRETS_KEY", () => {
  it.each([
    ["is missing", {}],
    ["is empty", { SECRETS_KEY: "" }],
    ["is too short", { SECRETS_KEY: Buffer.alloc(16).toString("base64") }],
    ["is no base64", { SECRETS_KEY: "*".repeat(44) }],
    ["has an old key that is none", { SECRETS_KEY: keyOf(1), SECRETS_KEYS_OLD: "abc" }],
  ])("is refused by name if it %s, with the command that makes one", (_case, environment) => {
    const start = (): void => requireSecretsKey(environment, "Slack for several workspaces");
    expect(start).toThrow(/SECRETS_KEY/);
    expect(start).toThrow(/openssl rand -base64 32/);
    expect(start).toThrow(/Slack for several workspaces/);
    expect(start).not.toThrow(/abc|\*\*/);
  });

  it("is accepted with 32 bytes, also in the alphabet of addresses", () => {
    const key = Buffer.alloc(32, 0xfb).toString("base64url");
    expect(() => requireSecretsKey({ SECRETS_KEY: key }, "x")).not.toThrow();
  });
});

it("binds a sealed text to its purpose", async () => {
  const box = new SecretBox(env, "this test");
  const sealed = await box.seal("hello", "a");
  expect(await box.open(sealed, "a")).toBe("hello");
  await expect(box.open(sealed, "b")).rejects.toMatchObject({ code: "secret-unreadable" });
});
