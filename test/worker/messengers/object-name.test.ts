import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { keepName } from "../../../src/agent/object-name.ts";
import { pipelined } from "../support/pipelined.ts";
import { testEnv } from "../test-env.ts";

/** An object that is addressed by its id alone, as when another process hands it over: the runtime knows no name of it. */
function handedOver(name: string) {
  const { BareBot } = testEnv;
  return pipelined(BareBot.get(BareBot.idFromString(BareBot.idFromName(name).toString())));
}

const newName = (): string => `root-${crypto.randomUUID()}/thread:telegram:1`;

it("stores its name when it is first opened with it", async () => {
  const name = newName();
  await pipelined(testEnv.BareBot.getByName(name)).deliveries.list();
  const stored = await runInDurableObject(testEnv.BareBot.getByName(name), (_agent, { storage }) =>
    [...storage.kv.list()].filter(([, value]) => value === name),
  );
  const other = handedOver(newName());
  await runInDurableObject(other, (_agent, { storage }) => {
    for (const [key, value] of stored) storage.kv.put(key, value);
  });
  const response = await other.fetch("https://bot.example/page");
  expect([response.status, await response.text()]).toEqual([404, "Not found"]);
  expect(await runInDurableObject(other, (agent) => agent.name)).toBe(name);
});

it("knows its stored name in a call over RPC that comes before any request", async () => {
  const stub = handedOver(newName());
  await runInDurableObject(stub, (_agent, state) => keepName(state.storage, "root/thread:telegram:2"));
  expect(await stub.deliveries.list()).toEqual([]);
});

it("cannot be opened when nobody has ever opened it by its name", async () => {
  const response = await handedOver(newName()).fetch("https://bot.example/page");
  expect(response.status).toBe(500);
});
