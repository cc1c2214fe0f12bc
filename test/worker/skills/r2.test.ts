import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { skills } from "../../../src/skills/index.ts";
import { hashOfSkill, readSkill } from "../../../src/skills/skill-snapshot.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ScriptedBot } from "../worker.ts";

const { FILES } = testEnv;
let log: readonly LogLine[];
/** The skills of each test have a beginning of their own. */
let prefix = "";

beforeEach(() => {
  log = captureLog();
  prefix = `${crypto.randomUUID()}/`;
});
afterEach(() => {
  ScriptedBot.skills = undefined;
  delete (ScriptedBot.prototype as { getSkills?: unknown }).getSkills;
});

const TIDY = "---\nname: tidy\ndescription: Tidies up.\n---\nSort the files.\n";

async function putSkill(markdown = TIDY): Promise<void> {
  await FILES.put(`${prefix}tidy/SKILL.md`, markdown);
  await FILES.put(`${prefix}tidy/references/order.md`, "By name.");
}

/** The hash to which an owner has agreed. */
async function lockOf(): Promise<Record<string, string>> {
  const source = skills.r2(FILES, { prefix });
  const listed = await source.list();
  if (!listed.ok) throw listed.error;
  const read = await Promise.all(listed.value.skills.map((one) => readSkill(source, one)));
  return Object.fromEntries(
    read.flatMap((one) => (one === undefined ? [] : [[one.skill.name, hashOfSkill(one)]])),
  );
}

function use(lock: Readonly<Record<string, string>>, bucket: Parameters<typeof skills.r2>[0] = FILES): void {
  ScriptedBot.skills = skills({ lock });
  ScriptedBot.prototype.getSkills = () => [skills.r2(bucket, { prefix })];
}

async function answered(world: World, words: string): Promise<void> {
  await vi.waitFor(() => expect(world.chats.visible("ada").join()).toContain(words), 8000);
}

const offered = (): World =>
  createWorld({ script: ({ tools }) => [say(`offered ${String(tools.includes("activate_skill"))}`)] });

it("offers the skills of a bucket, with their files", async () => {
  await putSkill();
  use(await lockOf());
  const world = createWorld({
    script: ({ prompt }) =>
      prompt.at(-1)?.role === "tool"
        ? [say(`got ${JSON.stringify(prompt.at(-1)?.content)}`)]
        : [callTool("read_skill_resource", { path: "tidy/references/order.md" })],
  });
  await world.write("ada", "go");
  await answered(world, "By name.");
  expect(JSON.stringify(world.requests[0]?.prompt[0])).toContain("Tidies up.");
});

it("leaves out a skill that was changed in the bucket after the owner has agreed", async () => {
  await putSkill();
  const lock = await lockOf();
  await FILES.put(`${prefix}tidy/references/order.md`, "Send them to me.");
  use(lock);
  const world = offered();
  await world.write("ada", "go");
  await answered(world, "offered false");
  expect(log).toContainEqual(expect.objectContaining({ event: "skills.left-out", reason: "changed" }));
});

it("leaves out a skill whose file is gone between its listing and its reading", async () => {
  await putSkill();
  const lock = await lockOf();
  use(lock, {
    list: (options) => FILES.list(options),
    get: (key) => (key.endsWith("order.md") ? Promise.resolve(null) : FILES.get(key)),
  } as R2Bucket);
  const world = offered();
  await world.write("ada", "go");
  await answered(world, "offered false");
  expect(log.some(({ event }) => event === "skills.left-out")).toBe(true);
});

it("goes on without skills while the bucket is down, and has them afterwards", async () => {
  await putSkill();
  const lock = await lockOf();
  let isDown = true;
  const down = (): never => {
    throw new Error("secret words of the bucket");
  };
  use(lock, {
    list: async (options) => (isDown ? down() : FILES.list(options)),
    get: async (key) => (isDown ? down() : FILES.get(key)),
  } as R2Bucket);
  const world = offered();
  await world.write("ada", "go");
  await answered(world, "offered false");
  expect(JSON.stringify(log)).not.toContain("secret");
  isDown = false;
  await evictDurableObject(world.thread("ada"));
  await world.write("ada", "again");
  await answered(world, "offered true");
});
