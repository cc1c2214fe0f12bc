import { afterAll, beforeAll, expect, it } from "vitest";
import { startServedBot } from "../../lab/support/served-bot.ts";
import type { ServedBot } from "../../lab/support/served-bot.ts";

let bot: ServedBot;
beforeAll(async () => {
  bot = await startServedBot({ config: "test/e2e/bots/parts/wrangler.jsonc" });
});
afterAll(() => bot.close());

/** A Worker calls the bot's root, in one round trip. */
async function call(path: string, ...args: readonly unknown[]): Promise<unknown> {
  const response = await fetch(`${bot.url}/call`, { method: "POST", body: JSON.stringify([path, ...args]) });
  const answer = (await response.json()) as { readonly value?: unknown; readonly error?: string };
  return answer.error ?? answer.value;
}

it("lets a Worker call the parts of a bot through a stub", async () => {
  expect(await call("approvals.list")).toEqual([]);
  expect(await call("approvals.pending")).toEqual([]);
  expect(await call("pendingApprovals")).toEqual([]);
  expect(await call("approvals.approve", "another")).toEqual({ kind: "unknown" });
  expect(await call("schedules.list")).toEqual([]);
  expect(await call("schedules.occurrences", { taskId: "digest" })).toEqual([]);
  expect(await call("schedules.pause", "digest")).toBe(false);
  expect(await call("broadcasts.list")).toEqual([]);
  expect(await call("broadcasts.send", "Hello", "subscribers")).toMatch(/./);
  expect(await call("broadcasts.cancel", "another")).toBe(false);
  expect(await call("deliveries.list")).toEqual([]);
  expect(await call("deliveries.get", "another")).toBeUndefined();
});

it.each([
  "deliveries.#delivery",
  "deliveries.delivery",
  "deliveries.list.call",
  "schedules.feature",
  "broadcasts.options",
  "approvals.feature",
  "approvals.#feature",
])("hides %s from Workers", async (name) => {
  expect(await call(name)).toMatch(/does not implement the method/);
});
