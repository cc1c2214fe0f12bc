import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { calls, endExtensions, extension, useExtensions } from "../support/extension-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import type { ExtensionConfig, ExtensionHook } from "../../../src/extensions/index.ts";

afterEach(() => endExtensions());

/** An extension with one hook. It may write files. */
function watcher(hook: ExtensionHook, body: string, name = "notes"): ExtensionConfig {
  const manifest = { name, hooks: [hook], permissions: { workspace: "read-write" } } as const;
  return extension("() => 1", manifest, `${hook}: ${body}`);
}

async function told(world: World, text = "go"): Promise<string> {
  await world.write("ada", text);
  await vi.waitFor(() => expect(world.chats.visible("ada").join("\n")).toContain("got"), {
    timeout: 8000,
    interval: 10,
  });
  return world.chats.visible("ada").join("\n");
}

function file(world: World, path: string): Promise<unknown> {
  return runInDurableObject(world.thread("ada"), async ({ workspace }) =>
    JSON.parse(new TextDecoder().decode(await workspace.readFile(path))),
  );
}

/** A hook that writes all its snapshots into a file. */
const KEEP = `async (snapshot, host) => {
  const all = JSON.parse((await host.readFile("/seen.json")) ?? "[]");
  await host?.writeFile("/seen.json", JSON.stringify([...all, snapshot]));
}`;

it.each([
  ["beforeToolCall", { toolName: "ext_notes_go", input: { a: 2 }, stepNumber: 0 }],
  ["afterToolCall", { toolName: "ext_notes_go", success: true, output: 1, input: { a: 2 } }],
  ["onStepFinish", { stepNumber: 0, toolCallCount: 1, toolResultCount: 1 }],
  ["onChunk", { type: "tool-call", toolName: "ext_notes_go" }],
] as const)("shows %s a snapshot of JSON, beside the turn", async (hook, snapshot) => {
  useExtensions([watcher(hook, KEEP)], { rules: { notes: { approval: false } } });
  const world = createWorld({ script: calls("ext_notes_go", { a: 2 }) });
  await told(world);
  await vi.waitFor(
    async () => expect(await file(world, "/seen.json")).toContainEqual(expect.objectContaining(snapshot)),
    8000,
  );
});

it("lets beforeTurn change the prompt and take tools away, after the bot's own hook", async () => {
  const body = `async (turn) => ({
    system: turn.system + " Be brief.",
    activeTools: ["read", "write", "nothing"],
    maxSteps: 99,
  })`;
  useExtensions([
    watcher("beforeTurn", body),
    watcher("beforeTurn", "async ({ system }) => ({ system: system + ' Be kind.' })", "kind"),
  ]);
  const world = createWorld({
    script: ({ tools }) => [say(`got ${tools.join()}`)],
    hooks: { beforeTurn: ({ system }) => ({ system: `${system} Own.`, activeTools: ["read", "list"] }) },
  });
  expect(await told(world)).toContain("got read");
  expect(world.requests[0]?.tools).toEqual(["read"]);
  expect(JSON.stringify(world.requests[0]?.prompt[0])).toMatch(/Own\. Be brief\. Be kind\./);
});

const FAILURES = [
  ["throws", "() => { throw new Error('secret words'); }", "thrown"],
  ["loops", "() => { for (;;); }", "ticks"],
  ["never ends", "() => new Promise(() => {})", "thrown"],
  ["takes all memory", "() => 'x'.repeat(100_000_000)", "memoryBytes"],
  ["returns much", "() => 'x'.repeat(130_000)", "outputBytes"],
  ["nests too deep", "() => { const go = () => go() + 1; return go(); }", "stackBytes"],
  ["wants the network", "(_, host) => host.fetch('https://example.com')", "thrown"],
] as const;

it.each(FAILURES)(
  "goes on with a turn whose beforeTurn %s, and logs it without its words",
  async (_name, body, code) => {
    const log = captureLog();
    useExtensions([
      watcher("beforeTurn", body),
      watcher("beforeTurn", "() => ({ system: 'Mine.' })", "good"),
    ]);
    const world = createWorld({ script: () => [say("got on")] });
    expect(await told(world)).toContain("got on");
    expect(JSON.stringify(world.requests[0]?.prompt[0])).toContain("Mine.");
    expect(log).toContainEqual(
      expect.objectContaining({
        event: "extension.hook-failed",
        extension: "notes",
        hook: "beforeTurn",
        code,
      }),
    );
    expect(JSON.stringify(log)).not.toContain("secret words");
  },
);

it.each([
  ["a text", "'rubbish'"],
  ["a list", "[1]"],
  ["a tool", "({ tools: { refund: {} } })"],
  ["headers", "({ headers: { authorization: 'x' } })"],
  ["a transcript", "({ messages: [] })"],
  ["a forced tool", "({ toolChoice: { type: 'tool', toolName: 'refund' } })"],
  ["a model", "({ model: 'other' })"],
  ["no steps", "({ maxSteps: 0 })"],
  ["a prototype", 'JSON.parse(\'{"__proto__": { "tools": {} }, "constructor": 1}\')'],
])("ignores a beforeTurn that returns %s", async (_name, returned) => {
  const log = captureLog();
  useExtensions([watcher("beforeTurn", `() => ${returned}`)]);
  const world = createWorld({ script: () => [say("got on")] });
  expect(await told(world)).toContain("got on");
  expect(log).toContainEqual(expect.objectContaining({ event: "extension.hook-failed", code: "result" }));
});

it.each(["beforeToolCall", "afterToolCall", "onStepFinish", "onChunk"] as const)(
  "never lets a %s that loops, throws or blocks change what a turn does",
  async (hook) => {
    const log = captureLog();
    useExtensions(
      [
        watcher(hook, "() => { for (;;); }", "loops"),
        watcher(hook, "() => { throw { get message() { throw 1; } }; }", "throws"),
        watcher(hook, "() => ({ action: 'block', reason: 'mine' })", "blocks"),
        extension("(input) => input"),
      ],
      { rules: { notes: { approval: false } } },
    );
    const world = createWorld({ script: calls("ext_notes_go", { a: 2 }) });
    expect(await told(world)).toContain('"a":2');
    await vi.waitFor(() => {
      const failed = log
        .filter(({ event }) => event === "extension.hook-failed")
        .map((line) => line["extension"]);
      expect(failed).toEqual(expect.arrayContaining(["loops", "throws"]));
      expect(failed).not.toContain("blocks");
    }, 8000);
  },
);

it("lets an extension rest that fails again and again", async () => {
  const log = captureLog();
  useExtensions([watcher("onChunk", "() => { for (;;); }")]);
  const words = Array.from({ length: 300 }, (_, index) => `got${index} `);
  const world = createWorld({ script: () => words.map((word) => say(word)) });
  await told(world);
  await vi.waitFor(() => expect(world.chats.visible("ada").join("\n")).toContain("got299"), 8000);
  const failed = log.filter(({ event }) => event === "extension.hook-failed");
  expect(failed.filter(({ code }) => code === "ticks").length).toBeLessThanOrEqual(4);
});
