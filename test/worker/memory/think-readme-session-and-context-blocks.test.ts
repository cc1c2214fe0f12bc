import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Think } from "../../../src/index.ts";
import type { Session } from "../../../src/index.ts";
import { R2SkillProvider } from "../../../src/memory/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { testEnv } from "../test-env.ts";
import { ask, dropMemory, memoryWorld, systemOf } from "../support/memory-world.ts";

const { FILES } = testEnv;

afterEach(dropMemory);

beforeEach(() => void captureLog());
/** The section "Session and context blocks". Differences: decision 25. */
class MyAgent extends Think {
  override configureSession(session: Session) {
    return session
      .withContext("memory", { description: "Learned facts", maxTokens: 2000 })
      .withCachedPrompt();
  }
}

it("configureSession: the model learns facts in a block, which later prompts have", async () => {
  const world = memoryWorld((session) => MyAgent.prototype.configureSession(session));
  await ask(world, "c1", 'set_context {"label":"memory","content":"The deploy day is Friday"}');
  await ask(world, "c1", "hello");
  expect(systemOf(world)).toMatch(
    /## memory \(set_context\): Learned facts\n- \[\w+\] The deploy day is Friday/,
  );
});

it("dynamic context blocks: come and go at run time, and the prompt is rebuilt", async () => {
  const world = memoryWorld((session) => session);
  await runInDurableObject(world.thread("c1"), async ({ session }) => {
    await session.addContext("notes", { description: "User notes" });
    expect(await session.refreshSystemPrompt()).toContain("User notes");
    session.removeContext("notes");
    expect(await session.refreshSystemPrompt()).not.toContain("User notes");
  });
});

it("session skills: texts of a bucket are named in the prompt, loaded by their keys, and dropped", async () => {
  const prefix = `${crypto.randomUUID()}/`;
  await FILES.put(`${prefix}brew.md`, "Use water of 94 degrees.", {
    customMetadata: { description: "How to\nbrew" },
  });
  await FILES.put("outside.md", "Of another bot.");
  const provider = new R2SkillProvider(FILES, { prefix });
  const world = memoryWorld((session) => session.withContext("skills", { provider }).withCachedPrompt());
  const call = (tool: string, key: string): Promise<string> =>
    ask(world, "c1", `${tool} ${JSON.stringify({ label: "skills", key })}`);
  expect(await call("load_context", "brew.md")).toContain("94 degrees");
  expect(systemOf(world)).toContain("## skills (load_context, unload_context)\nbrew.md: How to brew");
  expect(systemOf(world)).not.toContain("outside");
  expect(await call("unload_context", "brew.md")).toContain('"unloaded":true');
  for (const key of ["../outside.md", "outside.md", ""])
    expect(await call("load_context", key)).toContain("There is no text");
  expect(
    await ask(world, "c1", 'set_context {"label":"skills","content":"x","key":"brew.md"}'),
  ).not.toContain('"kept"');
});

it("onCompaction and compactAfter: the bot's own code shortens the transcript", async () => {
  const world = memoryWorld((session) =>
    session
      .onCompaction(async (messages) => {
        const [from, to] = [messages[0], messages.at(-3)];
        return from === undefined || to === undefined
          ? null
          : { fromMessageId: from.id, toMessageId: to.id, summary: "Summarized." };
      })
      .compactAfter(100),
  );
  for (let count = 0; count < 8; count += 1) await ask(world, "c1", `message ${count} ${"x".repeat(100)}`);
  expect(JSON.stringify(world.requests.at(-1)?.prompt)).toContain("Summarized.");
});
