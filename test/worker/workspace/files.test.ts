import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { action } from "../../../src/index.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import { workspace } from "../../../src/workspace/index.ts";
import type { WorkspaceOptions } from "../../../src/workspace/index.ts";
import { bash } from "../../../src/workspace/bash/index.ts";
import { z } from "zod";
import { fakePlatform } from "../support/fake-platform.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

beforeEach(() => use());
afterEach(() => {
  ScriptedBot.workspace = undefined;
});

function use(options: WorkspaceOptions = {}): void {
  ScriptedBot.workspace = workspace(options);
}

/** A model that makes these calls, one after the other, and says what the last one gave. */
function calls(...steps: readonly (readonly [tool: string, input: unknown])[]): ModelScript {
  return ({ prompt }) => {
    const since = prompt.slice(
      prompt.findLastIndex(({ role, content }) => role === "user" && !isFile(content)),
    );
    const results = since.flatMap((message) => (message.role === "tool" ? message.content : []));
    const next = steps[results.length];
    if (next !== undefined) return [callTool(...next)];
    const last = results.at(-1);
    return [say(`Result: ${JSON.stringify(last !== undefined && "output" in last ? last.output : "none")}`)];
  };
}

/** A message of files alone is a result of a tool. */
function isFile(content: unknown): boolean {
  return Array.isArray(content) && content.every((part: { type?: string }) => part.type === "file");
}

function createFiles(options: WorldOptions = {}): World {
  return createWorld({
    messengers: (world) => ({
      fake: {
        ...world.messenger({ delivery: { editEveryMs: 0, onUnknown: "resend" } }),
        platform: fakePlatform(world.chats, { files: true }),
      },
    }),
    ...options,
  });
}

const shown = (world: World, chat: string): string[] =>
  world.chats.messages(chat).flatMap(({ files, texts }) => [...files, texts.at(-1) ?? ""]);

function until(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 8000, interval: 10 });
}

function inThread<T>(world: World, chat: string, work: (bot: ScriptedBot) => T | Promise<T>): Promise<T> {
  return runInDurableObject(world.thread(chat), work);
}

/** The object dies at once, with everything that it was doing. */
async function die(agent: unknown): Promise<never> {
  const { ctx } = agent as { readonly ctx: DurableObjectState };
  await ctx.storage.sync();
  ctx.abort("killed by a test");
  return new Promise(() => {});
}

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 1, 2, 3]);

describe("the model of a bot with a workspace", () => {
  it("writes a file, edits it, and sends it to the chat", async () => {
    const script = calls(
      ["write", { path: "/report.csv", content: "name,sum\nann,3\n" }],
      ["edit", { path: "/report.csv", oldText: "ann,3", newText: "ann,4" }],
      ["read", { path: "/report.csv" }],
      ["send_file", { path: "/report.csv", caption: "Here" }],
    );
    const world = createFiles({ script });
    await world.write("c1", "make a report");
    await until(() => expect(shown(world, "c1")).toContain("document report.csv"));
    expect(shown(world, "c1")[0]).toContain("report.csv");
    const text = await inThread(world, "c1", async (bot) =>
      new TextDecoder().decode(await bot.workspace.readFile("/report.csv")),
    );
    expect(text).toBe("name,sum\nann,4\n");
    expect(await inThread(world, "c1", (bot) => bot.workspace.stat("/report.csv")?.person)).toEqual({
      userId: "ada",
      name: expect.any(String),
    });
    // Another conversation has nothing of it (I11).
    expect(await inThread(world, "c2", (bot) => bot.workspace.listFiles())).toEqual([]);
  });

  it("reads what was wrong, and the rest of the turn goes on", async () => {
    use({ maxFileBytes: 10 });
    const world = createFiles({ script: calls(["write", { path: "/../a", content: "x" }]) });
    await world.write("c1", "write");
    await until(() => expect(shown(world, "c1").join()).toContain("Write the whole path"));
    world.script(calls(["write", { path: "/a", content: "more than ten" }]));
    await world.write("c1", "write");
    await until(() => expect(shown(world, "c1").join()).toContain("A file has at most 10."));
  });

  it.each([
    ["picture", "/photo.png", "image/png", PNG],
    ["PDF", "/bill.pdf", "application/pdf", new TextEncoder().encode("%PDF-1.7 of a bill")],
  ])(
    "sees a %s in the turn that reads it, and words later; the transcript has no bytes",
    async (...given) => {
      const [, path, mediaType, bytes] = given;
      const world = createFiles({ script: calls(["read", { path }]) });
      await inThread(world, "c1", (bot) => bot.workspace.writeFile(path, bytes));
      await world.write("c1", "look");
      await until(() => expect(shown(world, "c1").join()).toContain(path));
      const files = (at: number): unknown[] =>
        (world.requests[at]?.prompt ?? []).flatMap(({ content, role }) =>
          role === "user" ? content.filter(({ type }) => type === "file") : [],
        );
      expect(files(1)).toMatchObject([{ type: "file", mediaType }]);
      await world.write("c1", "and now?");
      await until(() => expect(world.requests.length).toBeGreaterThan(3));
      expect(files(2)).toEqual([]);
      expect(JSON.stringify(world.requests[2]?.prompt)).toContain("in an earlier turn");
      const stored = await runInDurableObject(world.thread("c1"), (_bot, { storage }) =>
        JSON.stringify(storage.sql.exec("SELECT * FROM cf_agents_session_messages").toArray()),
      );
      expect(stored).not.toContain(btoa(String.fromCharCode(...bytes)).slice(0, 12));
    },
  );

  it("has a shell if the bot imports it, and only the tools that the bot names", async () => {
    use({ bash: bash(), tools: ["bash", "read"] });
    const world = createFiles({ script: calls(["bash", { script: "echo a | tr a b > /x; cat /x" }]) });
    await world.write("c1", "go");
    await until(() => expect(shown(world, "c1").join()).toContain("changed"));
    expect(world.requests[0]?.tools.toSorted()).toEqual(["bash", "read"]);
    expect(await inThread(world, "c1", async (bot) => (await bot.workspace.readFile("/x")).length)).toBe(2);
  });
});

describe("files that people send", () => {
  const files = [
    { id: "f1", kind: "document", name: "a.txt", mediaType: "text/plain" },
    { id: "f2", kind: "document", name: "a.txt", mediaType: "text/plain" },
    { id: "f3", kind: "document", name: "../big.bin" },
  ] as const;

  it("are kept once under names of their own, and the person hears of one that is not", async () => {
    use({ keepSentFiles: true, maxFileBytes: 20 });
    const world = createFiles();
    world.chats.files.set("f1", new TextEncoder().encode("one"));
    world.chats.files.set("f2", new TextEncoder().encode("two"));
    world.chats.files.set("f3", new Uint8Array(30));
    await world.write("c1", "keep these", { files });
    await until(() => expect(shown(world, "c1").join()).toContain("couldn't keep"));
    await until(() => expect(shown(world, "c1").join()).toContain("You said"));
    const paths = (): Promise<string[]> =>
      inThread(world, "c1", (bot) =>
        bot.workspace.listFiles().map(({ path, sizeBytes }) => `${path} ${sizeBytes}`),
      );
    expect(await paths()).toEqual(["/sent/a-2.txt 3", "/sent/a.txt 3"]);
    const system = JSON.stringify(world.requests[0]?.prompt[0]);
    expect(system).toContain("/sent/a-2.txt");
    expect(system).toContain("was not kept");
    await evictDurableObject(world.thread("c1"));
    await world.write("c1", "again", { files: [files[0]] });
    await until(() =>
      expect(shown(world, "c1").filter((text) => text.startsWith("You said"))).toHaveLength(2),
    );
    expect(await paths()).toHaveLength(2);
    expect(shown(world, "c1").filter((text) => text.includes("couldn't keep"))).toHaveLength(1);
  });

  it("stay where they are unless the bot keeps them", async () => {
    const world = createFiles();
    world.chats.files.set("f1", new TextEncoder().encode("one"));
    await world.write("c1", "look", { files: [files[0]] });
    await until(() => expect(shown(world, "c1").join()).toContain("You said"));
    expect(await inThread(world, "c1", (bot) => bot.workspace.listFiles())).toEqual([]);
  });
});

describe("/files", () => {
  it("lists the files, sends one and deletes one, each as its list has shown it", async () => {
    const world = createFiles();
    await world.write("c1", "/files");
    await until(() => expect(shown(world, "c1")).toEqual(["There are no files here."]));
    await inThread(world, "c1", async (bot) => {
      await bot.workspace.writeFile("/notes/plan.md", "plan");
      await bot.workspace.writeFile("/photo.png", PNG);
    });
    await world.write("c1", "/files");
    await until(() => expect(shown(world, "c1").join()).toContain("Files: 2 (0.0 of 50.0 MB)"));
    expect(await world.press("c1", "photo.png")).toBe("Here it is.");
    await until(() => expect(shown(world, "c1")).toContain("photo photo.png"));
    expect(await world.press("c1", "photo.png")).toBe("Here it is.");
    expect(shown(world, "c1").filter((text) => text === "photo photo.png")).toHaveLength(1);
    await inThread(world, "c1", (bot) => bot.workspace.writeFile("/notes/plan.md", "changed"));
    expect(await world.press("c1", "plan.md")).toContain("has changed or is gone");
    // The newest "Delete" is that of the file that has changed.
    expect(await world.press("c1", "Delete")).toBeDefined();
    expect(await inThread(world, "c1", (bot) => bot.workspace.stat("/notes/plan.md")?.sizeBytes)).toBe(7);
    await world.write("c1", "/files");
    await until(() => expect(shown(world, "c1").at(-1)).toContain("Files: 2 ("));
    expect(await world.press("c1", "Delete")).toBe("Deleted.");
    await until(() => expect(shown(world, "c1").at(-1)).toContain("Files: 1 ("));
  });

  it("lets nobody in a group delete a file of somebody else", async () => {
    const world = createFiles({ script: calls(["write", { path: "/bobs.txt", content: "b" }]) });
    await world.write("g1", "@bot write", { user: "bob", isGroup: true, mentions: true });
    await until(() => expect(shown(world, "g1").join()).toContain("Result"));
    await world.write("g1", "/files", { isGroup: true, mentions: true });
    await until(() => expect(shown(world, "g1").join()).toContain("bobs.txt"));
    expect(await world.press("g1", "Delete", { user: "eve", isGroup: true })).toMatch(/^Only .*can delete/);
    expect(await inThread(world, "g1", (bot) => bot.workspace.listFiles())).toHaveLength(1);
    expect(await world.press("g1", "Delete", { user: "bob", isGroup: true })).toBe("Deleted.");
    expect(await inThread(world, "g1", (bot) => bot.workspace.listFiles())).toHaveLength(0);
  });
});

it("is a clear error in a bot that does not import it", async () => {
  ScriptedBot.workspace = undefined;
  const world = createFiles();
  const code = await inThread(world, "c1", (bot) => {
    try {
      return bot.workspace.listFiles().length;
    } catch (error) {
      expect((error as Error).message).toContain('workspace() of "switchboard/workspace"');
      return errorCode(error);
    }
  });
  expect(code).toBe("feature-not-imported");
});

it("sends a file by its path from the bot's own code", async () => {
  const send = action({
    description: "Send both.",
    inputSchema: z.object({}),
    execute: async (_input, ctx) => {
      const bot = ctx.agent as unknown as ScriptedBot;
      await bot.workspace.writeFile("/own.txt", "own");
      ctx.attachReply(await bot.workspace.attachment("/own.txt"));
      await bot.say({ kind: "files", files: [await bot.workspace.file("/own.txt")] });
      await bot.workspace.deleteFiles("/own.txt");
      return "done";
    },
  });
  const world = createFiles({ getActions: () => ({ send }), script: calls(["send", {}]) });
  await world.write("c1", "go");
  await until(() => expect(shown(world, "c1").filter((text) => text === "document own.txt")).toHaveLength(2));
});

/** The turn dies once at this moment of a call. */
const MOMENTS = ["beforeToolCall", "afterToolCall"] as const;
const CALLS = [
  ["write", { path: "/log", content: "new" }, "new", 0],
  ["edit", { path: "/log", oldText: "x", newText: "xx" }, "xx", 0],
  ["delete", { path: "/log" }, undefined, 0],
  ["send_file", { path: "/log" }, "x", 1],
] as const;

describe.each(MOMENTS)("a kill at %s", (moment) => {
  it.each(CALLS)("of %s leaves it done once", async (tool, input, expected, sent) => {
    let isAlive = true;
    const world = createFiles({
      script: calls([tool, input]),
      hooks: {
        async [moment](this: unknown) {
          if (!isAlive) return;
          isAlive = false;
          await die(this);
        },
      },
    });
    await inThread(world, "c1", (bot) => bot.workspace.writeFile("/log", "x"));
    await world.write("c1", "go").catch(() => undefined);
    await until(() => expect(isAlive).toBe(false));
    await vi.waitFor(
      async () => {
        await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
        expect(shown(world, "c1").join()).toContain("Result");
      },
      { timeout: 12_000, interval: 50 },
    );
    const text = await inThread(world, "c1", async (bot) =>
      bot.workspace.stat("/log") === undefined
        ? undefined
        : new TextDecoder().decode(await bot.workspace.readFile("/log")),
    );
    expect(text).toBe(expected);
    await until(() => expect(shown(world, "c1").filter((one) => one === "document log")).toHaveLength(sent));
  });
});
