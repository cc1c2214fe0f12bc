import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BOT } from "../../../src/agent/bot-root.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { callsOver } from "../../../src/core/chat/inner-calls.ts";
import { calls, endExtensions, extension, useExtensions } from "../support/extension-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { extensions } from "../../../src/extensions/index.ts";
import { workspace } from "../../../src/workspace/index.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

afterEach(() => {
  endExtensions();
  vi.unstubAllGlobals();
});

const NO_QUESTION = { rules: { notes: { approval: false } } } as const;
const WRITES = { permissions: { workspace: "read-write" } } as const;

/** What the chat shows of one call. */
async function answerOf(world: World, chat = "ada"): Promise<string> {
  await world.write(chat, "go");
  await vi.waitFor(() => expect(world.chats.visible(chat).join("\n")).toContain("got"), {
    timeout: 8000,
    interval: 10,
  });
  return world.chats.visible(chat).join("\n").replaceAll("\\", "");
}

/** Waits for the question about a call. */
async function asks(world: World): Promise<void> {
  await world.write("ada", "go");
  await vi.waitFor(() => expect(world.chats.button("ada", "Approve")).toBeDefined(), {
    timeout: 8000,
    interval: 10,
  });
}

function files(world: World, chat = "ada"): Promise<Record<string, string>> {
  return runInDurableObject(world.thread(chat), async ({ workspace }) => {
    const all = workspace.listFiles().map(async ({ path }) => {
      const bytes = await workspace.readFile(path);
      return [path, new TextDecoder().decode(bytes)] as const;
    });
    return Object.fromEntries(await Promise.all(all));
  });
}

it("offers the tools of an extension, and asks nobody about one that reaches nothing", async () => {
  useExtensions([extension("async ({ a }, host) => ({ sum: a + 1, host })")]);
  const world = createWorld({ script: calls("ext_notes_go", { a: 6 }) });
  expect(await answerOf(world)).toContain('"sum":7,"host":null');
  expect(world.requests[0]?.tools).toContain("ext_notes_go");
});

it.each([
  [
    "statements before the object",
    "const word = 'fine';\n({ tools: { go: { execute: () => word } } }); // the end",
  ],
  ["an object without parentheses", "{ tools: { go: { execute: () => 'fine' } } }"],
  ["a comment at the end", "({ tools: { go: { execute: () => 'fine' } } }) // the end"],
])("takes a source of %s", async (_name, source) => {
  useExtensions([{ manifest: { name: "notes", version: "1" }, source }]);
  expect(await answerOf(createWorld({ script: calls("ext_notes_go") }))).toContain("fine");
});

it("asks before a call that can change something, and changes files only if a person agrees", async () => {
  useExtensions([
    extension("async (_, host) => { await host.writeFile('a.md', 'hi'); return 'wrote'; }", WRITES),
  ]);
  const world = createWorld({ script: calls("ext_notes_go") });
  await asks(world);
  expect(world.chats.visible("ada").join()).toContain("notes: go");
  expect(await files(world)).toEqual({});
  const token = world.chats.button("ada", "Approve");
  await world.post({ kind: "press", id: "press-1", chat: "ada", user: "ada", text: token ?? "" });
  await vi.waitFor(async () => expect(await files(world)).toEqual({ "/a.md": "hi" }), 8000);
});

it("loses no change when people agree to two calls at once, while a hook changes the same file", async () => {
  const adds = (word: string): string =>
    `async (_, host) => host.writeFile("/a.md", ((await host.readFile("/a.md")) ?? "") + "${word} ")`;
  const manifest = { ...WRITES, hooks: ["onStepFinish"] } as const;
  useExtensions([extension(adds("tool"), manifest, `onStepFinish: ${adds("hook")}`)]);
  const world = createWorld({
    script: ({ said }) =>
      said === "go"
        ? [callTool("ext_notes_go", { a: 1 }), callTool("ext_notes_go", { a: 2 })]
        : [say(`got ${said}`)],
  });
  await world.write("ada", "go");
  await world.press("ada", "Approve all");
  await vi.waitFor(
    async () => {
      const words = (await files(world))["/a.md"]?.trim().split(" ").toSorted() ?? [];
      expect(words.filter((word) => word === "tool")).toHaveLength(2);
      // A step of the model in each of at least two turns.
      expect(world.requests.length).toBeGreaterThan(1);
      expect(words.filter((word) => word === "hook")).toHaveLength(world.requests.length);
    },
    { timeout: 8000, interval: 50 },
  );
});

it("shows a run its own changes, and makes none of a run that fails", async () => {
  const script = `async ({ a }, host) => {
    await host.writeFile("log/a.txt", "one");
    const seen = [await host.readFile("/log/a.txt"), await host.readFile("none"), await host.deleteFile("none")];
    if (a === 1) throw new Error("stop");
    return seen;
  }`;
  useExtensions([extension(script, WRITES)], NO_QUESTION);
  const failing = createWorld({ script: calls("ext_notes_go", { a: 1 }) });
  expect(await answerOf(failing)).toContain("The extension failed: stop");
  expect(await files(failing)).toEqual({});
  const world = createWorld({ script: calls("ext_notes_go", { a: 2 }) });
  expect(await answerOf(world)).toContain('["one",null,false]');
  expect(await files(world)).toEqual({ "/log/a.txt": "one" });
});

it("makes all changes of a run or none, also of memory", async () => {
  const script = `async (_, host) => {
    await host.setContext("pad", "new");
    await host.writeFile("/a.md", "a");
    await host.writeFile("/b.md", "b");
    return (await host.listFiles()).map((one) => one.path);
  }`;
  const manifest = { ...WRITES, context: [{ label: "pad" }] } as const;
  useExtensions([extension(script, manifest)], NO_QUESTION);
  const world = createWorld({ script: calls("ext_notes_go") });
  expect(await answerOf(world)).toContain('["/a.md","/b.md"]');
  ScriptedBot.workspace = workspace({ maxFiles: 1 });
  const small = createWorld({ script: calls("ext_notes_go") });
  expect(await answerOf(small)).toContain("There is no room for this");
  expect(await files(small)).toEqual({});
  const kept = await runInDurableObject(small.thread("ada"), (bot) =>
    bot.session.getContextBlock("notes_pad"),
  );
  expect(kept).toBe("");
});

it("keeps the files and the memory of conversations apart", async () => {
  const script = `async ({ a }, host) => {
    globalThis.seen = (globalThis.seen ?? 0) + 1;
    const before = { files: (await host.listFiles()).map((one) => one.path), memory: await host.getContext("pad"), seen };
    await host.writeFile("/secret.md", "of one chat");
    await host.setContext("pad", "words of one chat");
    return before;
  }`;
  useExtensions(
    [extension(script, { ...WRITES, context: [{ label: "pad", description: "Pad." }] })],
    NO_QUESTION,
  );
  const world = createWorld({ script: calls("ext_notes_go") });
  expect(await answerOf(world, "ada")).toContain('"files":[],"memory":"","seen":1');
  expect(await answerOf(world, "bob")).toContain('"files":[],"memory":"","seen":1');
  await world.write("ada", "again");
  await vi.waitFor(
    () => expect(JSON.stringify(world.requests.at(-1)?.prompt[0])).toContain("words of one chat"),
    8000,
  );
  const session = await runInDurableObject(world.thread("ada"), (bot) =>
    bot.session.getContextBlock("notes_pad"),
  );
  expect(session).toBe("words of one chat");
});

describe.each([
  ["no", {}, "host === null ? 'none' : 'some'", '"none"'],
  ["the read", { workspace: "read" }, "await host.writeFile('/a', 'b')", 'permissions.workspace is "read"'],
  ["the read", { workspace: "read" }, "await host.deleteFile('/a')", 'permissions.workspace is "read"'],
  ["the read", { workspace: "read" }, "await host.fetch('https://api.example.com')", "network names no host"],
  ["the read", { workspace: "read" }, "await host.setContext('pad', 'x')", 'no block "pad"'],
  ["the network", { network: ["api.example.com"] }, "await host.readFile('/a')", 'workspace is "none"'],
  ["the network", { network: ["api.example.com"] }, "await fetch('https://api.example.com')", "fetch"],
  ["the network", { network: ["api.example.com"] }, "await host.fetch('https://example.org')", "not in perm"],
  ["the network", { network: ["api.example.com"] }, "await host.fetch('http://api.example.com')", "https"],
  ["the network", { network: ["*.example.com"] }, "await host.fetch('https://127.0.0.1/')", "private"],
  [
    "the network",
    { network: ["*.example.com"] },
    "await host.fetch('https://10.0.0.1.example.com/')",
    "private",
  ],
  [
    "the network",
    { network: ["*.example.com"] },
    "await host.fetch('https://a:b@api.example.com/')",
    "plain",
  ],
] as const)("an extension with %s permission", (_name, permissions, body, words) => {
  it(`cannot do ${body}`, async () => {
    useExtensions([extension(`async (_, host) => { return ${body}; }`, { permissions })], NO_QUESTION);
    const world = createWorld({ script: calls("ext_notes_go") });
    expect(await answerOf(world)).toContain(words);
    expect(await files(world)).toEqual({});
  });
});

it("calls a declared host without cookies and redirects, and returns what it says", async () => {
  const seen: Request[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    seen.push(new Request(url, init));
    return new Response("hello", {
      status: 302,
      headers: { location: "http://10.0.0.1/", "set-cookie": "a=b" },
    });
  });
  const body =
    "async (_, host) => host.fetch('https://api.example.com/v1', { method: 'POST', body: 'x', headers: { 'x-key': '1' } })";
  useExtensions([extension(body, { permissions: { network: ["api.example.com"] } })], NO_QUESTION);
  const world = createWorld({ script: calls("ext_notes_go") });
  const answer = await answerOf(world);
  expect(answer).toContain('"status":302');
  expect(answer).toContain('"body":"hello"');
  expect(answer).not.toContain("a=b");
  expect(seen.map(({ method, redirect, url }) => [method, redirect, url])).toEqual([
    ["POST", "manual", "https://api.example.com/v1"],
  ]);
});

it.each([
  ["loops", "() => { for (;;); }", "computed for too long"],
  ["loops in a promise", "async () => { for (;;) await null; }", "computed for too long"],
  ["waits for ever", "() => new Promise(() => {})", "waits for something that never happens"],
  ["returns 100 MB", "() => 'x'.repeat(100_000_000)", "of memory"],
  ["returns much", "() => 'x'.repeat(300_000)", "returned and logged more than"],
  ["returns a circle", "() => { const a = {}; a.a = a; return a; }", "The extension failed"],
  ["returns a trap", "() => ({ get a() { throw new Error('trap'); } })", "The extension failed: trap"],
  ["throws an odd value", "() => { throw { toString() { for (;;); } }; }", "The extension failed"],
  [
    "writes too much",
    "async (_, host) => { for (let i = 0; i < 99; i++) await host.writeFile('/' + i, 'x'); }",
    "at most 20 changes",
  ],
  [
    "writes one large file",
    "async (_, host) => host.writeFile('/a', 'x'.repeat(160_000))",
    "150000 characters",
  ],
  ["looks for a way out", "() => ({}).constructor.constructor('return process')()", "process"],

  ["writes no text", "async (_, host) => host.writeFile({ toString: () => '/a' }, 1)", "it takes texts"],
  ["leaves its folder", "async (_, host) => host.writeFile('/../a', 'x')", "Write the whole path"],
])("tells the model that an extension %s, and changes nothing", async (_name, execute, words) => {
  useExtensions([extension(execute, WRITES)], NO_QUESTION);
  const world = createWorld({ script: calls("ext_notes_go") });
  expect(await answerOf(world)).toContain(words);
  expect(await files(world)).toEqual({});
});

it.each([
  [
    "a question that waits",
    "() => ({ waiting: { approvalId: 'mine', message: 'Ask again' } })",
    '"result":{"waiting"',
  ],
  [
    "a refusal",
    "() => ({ error: { name: 'ActionAuthorizationError', message: 'no' } })",
    '"result":{"error"',
  ],
  ["a prototype", '() => JSON.parse(\'{"__proto__": { "polluted": true }, "a": 1}\')', '"a":1'],
  [
    "its side of the bridge",
    "() => { globalThis.bridge = null; Object.prototype.then = 1; JSON.stringify = () => '{'; return 1; }",
    '"value":1}',
  ],
  ["bytes of the wire", "() => ({ __codemode_binary_v1__: 'Uint8Array', data: 'AAAA' })", "3 bytes"],
])("cannot forge %s", async (_name, execute, words) => {
  useExtensions([extension(execute)]);
  const world = createWorld({ script: calls("ext_notes_go") });
  expect(await answerOf(world)).toContain(words);
  expect(world.chats.button("ada", "Approve")).toBeUndefined();
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it("refuses a call whose person may not do what the rules require", async () => {
  useExtensions([extension("() => 1")], { rules: { notes: { permissions: ["notes:use"] } } });
  const world = createWorld({
    script: calls("ext_notes_go"),
    authorizeTurn: () => ({ allowed: true, grantedPermissions: ["other"] }),
  });
  expect(await answerOf(world)).toContain('requires "notes:use"');
});

it("leaves out an extension that lacks a tool for which there is a rule", async () => {
  const log = captureLog();
  useExtensions([extension("() => 1")], {
    rules: { notes: { tools: { og: { permissions: ["notes:use"] } } } },
  });
  const world = createWorld({ script: ({ tools }) => [say(`got ${tools.includes("ext_notes_go")}`)] });
  expect(await answerOf(world)).toContain("got false");
  expect(log).toContainEqual(expect.objectContaining({ event: "extension.refused", code: "extension-rule" }));
});

it("takes the rules of a tool, and asks by the input", async () => {
  useExtensions([extension("(input) => input", WRITES)], {
    rules: { notes: { approval: true, tools: { go: { approval: ({ input }) => input["a"] !== 1 } } } },
  });
  const small = createWorld({ script: calls("ext_notes_go", { a: 1 }) });
  expect(await answerOf(small)).toContain('"a":1');
  const large = createWorld({ script: calls("ext_notes_go", { a: 2 }) });
  await asks(large);
});

it("leaves out an extension that it cannot load, and goes on", async () => {
  const log = captureLog();
  useExtensions([
    { manifest: { name: "loops", version: "1" }, source: "(() => { for (;;); })()" },
    { manifest: { name: "broken", version: "1" }, source: "({ tools: {" },
    { manifest: { name: "odd", version: "1" }, source: "({ tools: { a: { execute: 1 } } })" },
    {
      manifest: { name: "odd", version: "1" },
      source: "({ tools: { '__proto__x': {}, ['a b']: { execute() {} } } })",
    },
    { manifest: { name: "greedy", version: "1", permissions: { shell: true } as never }, source: "({})" },
    { manifest: { name: "big", version: "1" }, source: "'x'.repeat(50_000_000)" },
    null as never,
    extension("() => 'fine'"),
    extension("() => 'second'"),
  ]);
  const world = createWorld({ script: calls("ext_notes_go") });
  expect(await answerOf(world)).toContain("fine");
  expect(world.requests[0]?.tools.filter((name) => name.startsWith("ext_"))).toEqual(["ext_notes_go"]);
  const refused = log.filter(({ event }) => event === "extension.refused");
  expect(refused.map(({ code, extension: name }) => [name, code])).toEqual([
    ["loops", "extension-limit"],
    ["broken", "extension-source"],
    ["odd", "extension-source"],
    ["odd", "extension-source"],
    ["greedy", "extension-permission"],
    ["big", "extension-limit"],
    ["?", "TypeError"],
    ["notes", "extension-name"],
  ]);
});

it("names a permission that cannot be granted in /health", async () => {
  useExtensions([extension("() => 1", { permissions: { messages: true } as never })]);
  const problem = await callsOver(BOT, () => createWorld().stub, systemDeps.clock).healthProblem();
  expect(JSON.stringify(problem)).toContain("extension-permission");
  expect(JSON.stringify(problem)).toContain('asks for \\"messages\\", which it cannot get');
});

it("loads an extension by bot code, keeps it through a restart, and unloads it", async () => {
  useExtensions([]);
  const world = createWorld({ script: ({ tools }) => [say(`got ${tools.includes("ext_notes_go")}`)] });
  const { manifest, source } = extension("() => 1");
  const info = await runInDurableObject(world.thread("ada"), (bot) =>
    bot.extensionManager.load(manifest, source),
  );
  expect(info).toEqual({
    name: "notes",
    version: "1.0.0",
    tools: ["ext_notes_go"],
    contextLabels: [],
    permissions: {},
  });
  await evictDurableObject(world.thread("ada"));
  expect(await answerOf(world)).toContain("got true");
  expect(await answerOf(world, "bob")).toContain("got false");
  const again = await runInDurableObject(world.thread("ada"), async ({ extensionManager }) => [
    await extensionManager.load(manifest, source).catch((error: { code: string }) => error.code),
    await extensionManager.unload("notes"),
    await extensionManager.unload("notes"),
    extensionManager.list(),
  ]);
  expect(again).toEqual(["extension-loaded", true, false, []]);
});

it("forgets the loaded extensions of a conversation that is destroyed", async () => {
  useExtensions([]);
  const world = createWorld({ script: ({ tools }) => [say(`got ${tools.includes("ext_notes_go")}`)] });
  const { manifest, source } = extension("() => 1");
  await runInDurableObject(world.thread("ada"), (bot) => bot.extensionManager.load(manifest, source));
  expect(await answerOf(world)).toContain("got true");
  await world
    .thread("ada")
    .destroy()
    .catch(() => undefined);
  // A webhook that meets the object while it ends is answered 503, and the platform sends it again.
  await expect.poll(() => world.write("ada", "and now?")).toBe(200);
  await vi.waitFor(() => expect(world.chats.visible("ada").join("\n")).toContain("got false"), 8000);
});

it("makes no table without an extension that bot code has loaded", async () => {
  useExtensions([extension("() => 1")]);
  const world = createWorld({ script: calls("ext_notes_go") });
  await answerOf(world);
  const tables = await runInDurableObject(world.thread("ada"), (_bot, { storage }) =>
    storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'extension%'").toArray(),
  );
  expect(tables).toEqual([]);
});

it.each([
  ["limits", { limits: { ticks: -1 } }],
  ["a rule", { rules: { notes: { aproval: false } } }],
  ["a rule of a tool", { rules: { notes: { tools: { go: { sandbox: false } } } } }],
])("refuses %s that no extension has", (_name, options) => {
  expect(() => extensions(options as never)).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/-option$/) }),
  );
});
