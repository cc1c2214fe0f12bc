import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import { workspace } from "../../../src/workspace/index.ts";
import type { FileBucket, WorkspaceOptions } from "../../../src/workspace/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ScriptedBot } from "../worker.ts";

const LARGE = "0123456789".repeat(10);
const { FILES } = testEnv;
/** The objects of each test have a beginning of their own. */
let prefix = "";

beforeEach(() => {
  captureLog();
  prefix = `${crypto.randomUUID()}/`;
});
afterEach(() => {
  ScriptedBot.workspace = undefined;
});

/** Gives the bot a workspace whose large files are in R2. `wrapped` stands before the bucket. */
function use(wrapped: Partial<FileBucket> = {}, options: WorkspaceOptions = {}): void {
  const bucket: FileBucket = {
    put: (key, bytes) => FILES.put(key, bytes),
    get: (key) => FILES.get(key),
    delete: (keys) => FILES.delete(keys),
    ...wrapped,
  };
  ScriptedBot.workspace = workspace({
    ...options,
    largeFiles: { bucket: () => bucket, fromBytes: 50, prefix },
  });
}

async function keys(): Promise<string[]> {
  return (await FILES.list({ prefix })).objects.map(({ key }) => key);
}

/** Calls a tool once, and says what came of it. */
function calls(tool: string, input: object): ModelScript {
  return ({ prompt }) => {
    const last = prompt.at(-1);
    return last?.role === "tool"
      ? [say(`got ${JSON.stringify(last.content.map((one) => "output" in one && one.output))}`)]
      : [callTool(tool, input)];
  };
}

const inThread = <T>(world: World, work: (bot: ScriptedBot) => T | Promise<T>): Promise<T> =>
  runInDurableObject(world.thread("c1"), work);

async function shown(world: World, words: string): Promise<void> {
  await vi.waitFor(
    async () => {
      if (world.chats.visible("c1").join().includes(words)) return;
      await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      throw new Error(`Chat c1 shows ${world.chats.visible("c1").join()}`);
    },
    { timeout: 12_000, interval: 50 },
  );
}

/** Time passes, after which objects that no file has are deleted. */
async function rest(world: World): Promise<void> {
  await runInDurableObject(world.thread("c1"), async (bot) => {
    const { ctx } = bot as unknown as { readonly ctx: DurableObjectState };
    ctx.storage.sql.exec("UPDATE workspace_object_v1 SET unused_since = 1 WHERE unused_since IS NOT NULL");
    // The loop looks at the table again.
    await bot.workspace.writeFile("/poke", "small");
  });
  await runDurableObjectAlarm(world.thread("c1"));
}

describe("large files in R2", () => {
  it("are read in a later life of the conversation, and go with their last file", async () => {
    use();
    const world = createWorld({ script: calls("write", { path: "/report.txt", content: LARGE }) });
    await world.write("c1", "write");
    await shown(world, "got");
    const [key = "", ...more] = await keys();
    expect(more).toEqual([]);
    expect(key.slice(prefix.length)).toMatch(/^[\da-f]{64}\/[\da-f]{64}$/);
    await evictDurableObject(world.thread("c1"));
    world.script(calls("read", { path: "/report.txt" }));
    await world.write("c1", "read");
    await shown(world, LARGE);
    await inThread(world, (bot) => bot.workspace.deleteFiles("/report.txt"));
    expect(await keys()).toEqual([key]);
    await rest(world);
    await vi.waitFor(async () => expect(await keys()).toEqual([]), 8000);
  });

  it("leave nothing if the answer of the bucket is lost after it has stored them", async () => {
    use({
      put: async (key, bytes) => {
        await FILES.put(key, bytes);
        throw new Error("secret words of the network");
      },
    });
    const world = createWorld({ script: calls("write", { path: "/report.txt", content: LARGE }) });
    await world.write("c1", "write");
    await shown(world, "got");
    expect(world.chats.visible("c1").join()).toContain("did not answer. Try it again.");
    expect(world.chats.visible("c1").join()).not.toContain("secret");
    expect(await inThread(world, (bot) => bot.workspace.listFiles())).toEqual([]);
    expect(await keys()).toHaveLength(1);
    await rest(world);
    await vi.waitFor(async () => expect(await keys()).toEqual([]), 8000);
  });

  it.each(["before", "after"])(
    "are written once when the process dies %s the bucket has them",
    async (when) => {
      let isAlive = true;
      let agent: ScriptedBot | undefined;
      const die = async (): Promise<void> => {
        if (!isAlive) return;
        isAlive = false;
        const { ctx } = agent as unknown as { readonly ctx: DurableObjectState };
        await ctx.storage.sync();
        ctx.abort("killed by a test");
        await new Promise(() => {});
      };
      use({
        put: async (key, bytes) => {
          if (when === "before") await die();
          await FILES.put(key, bytes);
          await die();
        },
      });
      const world = createWorld({
        script: calls("write", { path: "/report.txt", content: LARGE }),
        onStart: (bot) => {
          if (bot.name.includes("c1")) agent = bot as ScriptedBot;
        },
      });
      await world.write("c1", "write").catch(() => undefined);
      await shown(world, "got");
      expect(isAlive).toBe(false);
      const text = await inThread(world, async (bot) =>
        new TextDecoder().decode(await bot.workspace.readFile("/report.txt")),
      );
      expect(text).toBe(LARGE);
      expect(await keys()).toHaveLength(1);
      await rest(world);
      expect(await keys()).toHaveLength(1);
    },
  );

  it("are named when the bucket has lost them, and the turn goes on", async () => {
    use();
    const world = createWorld({ script: calls("read", { path: "/report.txt" }) });
    await inThread(world, (bot) => bot.workspace.writeFile("/report.txt", LARGE));
    await FILES.delete(await keys());
    await world.write("c1", "read");
    await shown(world, "/report.txt cannot be read now");
    const code = await inThread(world, (bot) => bot.workspace.file("/report.txt").catch(errorCode));
    expect(code).toBe("workspace-unreadable");
    // Written again, it is there again.
    await inThread(world, (bot) => bot.workspace.writeFile("/report.txt", LARGE));
    expect(await inThread(world, async (bot) => (await bot.workspace.readFile("/report.txt")).length)).toBe(
      100,
    );
  });

  it("count in the quota, and leave nothing in the bucket when it is full", async () => {
    use({}, { maxBytes: 150 });
    const world = createWorld({ script: calls("write", { path: "/b.txt", content: `b${LARGE}` }) });
    await inThread(world, (bot) => bot.workspace.writeFile("/a.txt", LARGE));
    await world.write("c1", "write");
    await shown(world, "There is no room for this");
    expect(await inThread(world, (bot) => bot.workspace.usage())).toMatchObject({ files: 1, bytes: 100 });
    expect(await keys()).toHaveLength(2);
    await rest(world);
    await vi.waitFor(async () => expect(await keys()).toHaveLength(1), 8000);
    const text = await inThread(world, async (bot) => (await bot.workspace.readFile("/a.txt")).length);
    expect(text).toBe(100);
  });
});
