import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { testEnv } from "./test-env.ts";

it("gives a test an object with SQLite of its own", async () => {
  const stub = testEnv.TestObject.getByName("bare");
  const rows = await runInDurableObject(stub, (_instance, state) => {
    state.storage.sql.exec("CREATE TABLE probe (value TEXT)");
    state.storage.sql.exec("INSERT INTO probe VALUES (?)", "kept");
    return state.storage.sql.exec("SELECT value FROM probe").toArray();
  });
  expect(rows).toEqual([{ value: "kept" }]);
});
