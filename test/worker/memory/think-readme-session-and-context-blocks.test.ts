import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Think } from "../../../src/index.ts";
import type { ContextProvider, Session } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { ask, dropMemory, memoryWorld, systemOf } from "../support/memory-world.ts";

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

/** Stands for `R2SkillProvider`: `get` names the keys, and `load` reads one. */
const skills = (files: Readonly<Record<string, string>>): ContextProvider => ({
  get: () => Object.keys(files).join("\n"),
  load: (key) => files[key],
});

it("session skills: a provider's texts are loaded by their keys", async () => {
  const world = memoryWorld((session) =>
    session
      .withContext("skills", { provider: skills({ "brew.md": "Use water of 94 degrees." }) })
      .withCachedPrompt(),
  );
  const answer = await ask(world, "c1", 'load_context {"label":"skills","key":"brew.md"}');
  expect(answer).toContain("94 degrees");
  expect(systemOf(world)).toContain("## skills (load_context)\nbrew.md");
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
