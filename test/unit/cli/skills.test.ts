import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCommand } from "../../../cli/run-command.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-skills-"));
  await put("elsewhere/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nSort the files.\n");
  await put("elsewhere/tidy/scripts/sort.js", "export default () => 'sorted \u001b[2J';\n");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(name: string, text: string): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function run(...parameters: string[]) {
  let output = "";
  let errors = "";
  const code = await runCommand(["skills", ...parameters], {
    folder,
    environment: {},
    isInteractive: false,
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
  });
  return { code, output, errors };
}

it("shows all of a skill, and adds it only if somebody agrees", async () => {
  const refused = await run("add", "elsewhere/tidy");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("Sort the files.");
  // A terminal obeys nothing in it.
  expect(refused.output).toContain("sorted \\u001b[2J");
  expect(refused.errors).toContain("--yes");
  expect((await run("list")).output).toBe("The bot has no skills.\n");
  expect((await run("add", "elsewhere/tidy", "--yes")).code).toBe(0);
  expect((await run("list")).output).toMatch(/^tidy {2}agreed {2}[0-9a-f]{12}\n$/);
  const written = await readFile(path.join(folder, "skills/index.ts"), "utf8");
  expect(written).toContain('from "switchboard/skills"');
  expect(written).toContain("Sort the files.");
  expect((await run("verify")).code).toBe(0);
});

it("finds what has changed since, until somebody agrees again", async () => {
  await run("add", "elsewhere/tidy", "--yes");
  await put("skills/tidy/scripts/sort.js", "export default () => 'stolen';\n");
  await put("skills/new/SKILL.md", "---\nname: new\ndescription: Is new.\n---\nDo it.\n");
  const found = await run("verify", "--json");
  expect(found.code).toBe(1);
  expect(JSON.parse(found.output)).toEqual({ problems: ["new: not-added", "tidy: changed"] });
  const asked = await run("add", "skills/tidy");
  expect(asked.output).toContain("has CHANGED");
  expect(asked.code).not.toBe(0);
  await rm(path.join(folder, "skills/new"), { recursive: true });
  await run("add", "skills/tidy", "--yes");
  expect((await run("verify")).code).toBe(0);
  const module = path.join(folder, "skills/index.ts");
  await writeFile(module, (await readFile(module, "utf8")).replace("Sort", "Send"));
  expect((await run("verify")).output).toContain("index.ts is not as");
});

it("pins a skill that is somewhere else without a copy of it, and refuses a folder without one", async () => {
  expect((await run("add", "elsewhere/tidy", "--pin", "--yes")).code).toBe(0);
  expect((await run("list")).output).toMatch(/^tidy {2}pinned/);
  const written = await readFile(path.join(folder, "skills/index.ts"), "utf8");
  expect(written).toMatch(/"tidy": "[0-9a-f]{64}"/);
  expect(written).not.toContain("Sort the files.");
  expect((await run("add", "elsewhere", "--yes")).errors).toContain("SKILL.md");
});
