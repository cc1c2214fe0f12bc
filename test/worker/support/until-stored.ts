import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { ScriptedBot } from "../worker.ts";

/** Resolves when a piece of the model's answer is stored. */
export async function untilStored(stub: DurableObjectStub<ScriptedBot>, text: string): Promise<void> {
  await expect
    .poll(() =>
      runInDurableObject(stub, (_bot, { storage }) => {
        const tables = storage.sql
          .exec<{ name: string }>(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%stream%'",
          )
          .toArray();
        return tables
          .map(({ name }) => JSON.stringify(storage.sql.exec(`SELECT * FROM "${name}"`).toArray()))
          .join();
      }),
    )
    .toContain(text);
}
