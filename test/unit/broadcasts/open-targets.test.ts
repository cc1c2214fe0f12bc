import { expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createBroadcastStore, type BroadcastStore } from "../../../src/broadcasts/broadcast-store.ts";
import type { Database } from "../../../src/core/store/database.ts";

it.each<[string, (store: BroadcastStore, seq: number) => unknown]>([
  ["open", (store, seq) => store.open(seq)],
  ["quiet", (store, seq) => store.quiet(seq)],
  ["deciding", (store, seq) => store.deciding(seq)],
  ["due", (store, seq) => store.due(seq, 5, 10)],
  ["woken", (store, seq) => store.woken(seq, 5, 10)],
])("reads only the open ones of a broadcast's targets to find those that are %s", (_name, read) => {
  const real = createNodeDatabase();
  const asked: string[] = [];
  const database: Database = {
    run: (statement, ...bindings) => real.run(statement, ...bindings),
    transaction: (body) => real.transaction(body),
    all: (statement, ...bindings) => {
      if (statement.includes("FROM broadcast_target_v1")) asked.push(statement);
      return real.all(statement, ...bindings);
    },
  };
  const store = createBroadcastStore(database);
  const work = { kind: "content", content: "News", informModel: false } as const;
  const { seq } = store.insert({
    id: "news",
    hash: "",
    work,
    isSubscribed: false,
    createdAt: 0,
    expiresAt: 9,
  });
  read(store, seq);
  expect(asked).toHaveLength(1);
  const plan = real.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${asked[0]}`);
  expect(plan.map(({ detail }) => detail).join()).toContain("USING INDEX broadcast_target_open_v1");
});
