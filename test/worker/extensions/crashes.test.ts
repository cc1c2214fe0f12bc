import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createQuickJSExecutor } from "../../../src/codemode/index.ts";
import { calls, endExtensions, extension, useExtensions } from "../support/extension-bot.ts";
import { killerAt } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());
// An object that dies while it loads the engine's modules would leave them unloaded for all others of the test's runner.
beforeAll(async () => void (await createQuickJSExecutor().execute("async () => 1", [])));
afterEach(() => endExtensions());

/** The writes of a call that adds a line to a file. */
const WRITES = {
  "the call in the ledger": /INSERT INTO action_v1/,
  "the recorded changes": /INSERT INTO run_log_v1/,
  "the file": /INSERT INTO workspace_file_v1/,
  "the second file": [/INSERT INTO workspace_file_v1/, 2],
  "the end of the call in the ledger": [/INSERT INTO action_v1/, 2],
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

const ADDS = `async (_, host) => {
  await host.writeFile("/a.md", ((await host.readFile("/a.md")) ?? "") + "line\\n");
  await host.writeFile("/b.md", ((await host.readFile("/b.md")) ?? "") + "line\\n");
  return "added";
}`;

async function until(world: World, isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      if (isSo()) return;
      await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      throw new Error(`Chat c1 shows ${JSON.stringify(world.chats.visible("c1"))}`);
    },
    { timeout: 8_000, interval: 50 },
  );
}

describe("an object that dies while a tool of an extension runs", () => {
  it.each(
    Object.entries(WRITES).flatMap(([what, pattern]) =>
      (["before", "after"] as const).map((when) => ({ what, when, pattern })),
    ),
  )("makes its changes once: $when $what", async ({ pattern, when }) => {
    const killer = killerAt(pattern, when);
    useExtensions([extension(ADDS, { permissions: { workspace: "read-write" } })], {
      rules: { notes: { approval: false } },
    });
    const world = createWorld({ script: calls("ext_notes_go"), onStart: (agent) => killer.arm(agent) });
    await vi.waitFor(
      async () => expect(await world.write("c1", "go", { id: "cause" }).catch(() => 500)).toBe(200),
      8000,
    );
    await until(world, () => world.chats.visible("c1").some((text) => text.includes("got")));
    expect(killer.hasStruck()).toBe(true);
    expect(world.chats.visible("c1").join()).toContain("added");
    const texts = await runInDurableObject(world.thread("c1"), ({ workspace }) =>
      Promise.all(
        ["/a.md", "/b.md"].map(async (path) => new TextDecoder().decode(await workspace.readFile(path))),
      ),
    );
    expect(texts).toEqual(["line\n", "line\n"]);
  });
});
