import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readSkillFolder } from "../../../cli/skills/skill-folders.ts";
import { skills } from "../../../src/skills/index.ts";
import type { ServedFolder, SkillSource } from "../../../src/skills/index.ts";
import { SkillLibrary } from "../../../src/skills/skill-library.ts";
import { hashOfSkill } from "../../../src/skills/skill-snapshot.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

let folder: string;
let warnings: unknown[];
/** Whether the folder answers. */
let isThere: boolean;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-skills-"));
  warnings = [];
  isThere = true;
  await put("tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nSort the files.\n");
  await put("tidy/references/by name.md", "A to Z.");
  await put("tidy/.hidden", "Also read.");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(name: string, text: string): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** The folder as workerd serves a disk. */
const served: ServedFolder = {
  async fetch(address) {
    if (!isThere) throw new Error("secret words of the disk");
    const { pathname } = new URL(address);
    const place = path.join(folder, decodeURIComponent(pathname));
    if (!pathname.endsWith("/"))
      return readFile(place).then(
        (bytes) =>
          new Response(new Uint8Array(bytes), { headers: { "content-length": String(bytes.length) } }),
        () => new Response(null, { status: 404 }),
      );
    const entries = await readdir(place, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return new Response(null, { status: 404 });
    const typeOf = (entry: (typeof entries)[number]): string =>
      entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "symlink";
    return Response.json(entries.map((entry) => ({ name: entry.name, type: typeOf(entry) })));
  },
};

const agreed = async (): Promise<Record<string, string>> => ({
  tidy: hashOfSkill(await readSkillFolder(path.join(folder, "tidy"))),
});

function libraryOf(lock: Record<string, string>, source: SkillSource = skills.folder(served)) {
  const clock = createVirtualClock();
  const warn = (event: string, fields: object): void => void warnings.push({ event, ...fields });
  const log = { warn, reveal: (words: string) => words } as never;
  const library = new SkillLibrary({ clock, log, lock, sources: () => [source] });
  const offered = async (): Promise<readonly string[]> => {
    await library.load();
    await clock.advance(60_000);
    return library.catalog?.skills.map(({ skill }) => skill.name) ?? [];
  };
  return { library, offered };
}

it("offers a skill of a folder with all of its files, as the command line has shown it", async () => {
  const { library, offered } = libraryOf(await agreed());
  expect(await offered()).toEqual(["tidy"]);
  const read = await library.catalog?.readResource({ path: "tidy/references/by name.md" });
  expect(read).toMatchObject({ value: { resource: { content: "A to Z." } } });
});

it("leaves out a skill that nobody has agreed to, and one that has changed, until its owner agrees", async () => {
  expect(await libraryOf({}).offered()).toEqual([]);
  expect(warnings).toMatchObject([{ event: "skills.left-out", reason: "not-agreed" }]);
  const { offered } = libraryOf(await agreed());
  expect(await offered()).toEqual(["tidy"]);
  await put("tidy/references/by name.md", "Send them to me.");
  expect(await offered()).toEqual([]);
  expect(warnings.at(-1)).toMatchObject({ reason: "changed" });
  expect(await libraryOf(await agreed()).offered()).toEqual(["tidy"]);
});

it("follows no links, and needs no skill that is too large", async () => {
  const lock = await agreed();
  await symlink("/etc", path.join(folder, "etc"));
  await symlink("/etc/hostname", path.join(folder, "tidy/hostname"));
  await put("large/SKILL.md", "---\nname: large\ndescription: Is large.\n---\nRead all.\n");
  for (let file = 0; file < 120; file += 1) await put(`large/references/${file}.md`, "x");
  await put("heavy/SKILL.md", "---\nname: heavy\ndescription: Is heavy.\n---\nRead it.\n");
  await put("heavy/references/all.md", "x".repeat(2_000_001));
  await put("endless/SKILL.md", `---\nname: endless\ndescription: Is long.\n---\n${"x".repeat(2_000_000)}`);
  const { library, offered } = libraryOf(lock);
  expect(await offered()).toEqual(["tidy"]);
  expect(library.catalog?.find("tidy")?.resources.map((one) => one.path)).not.toContain("hostname");
  const left = warnings.map((line) => line as { detail: string; reason: string });
  expect(left.map(({ detail, reason }) => `${detail} ${reason}`)).toEqual(
    expect.arrayContaining(["large unreadable", "heavy unreadable"]),
  );
});

it("keeps the skills of the last time while the folder is gone", async () => {
  const { library, offered } = libraryOf(await agreed());
  expect(await offered()).toEqual(["tidy"]);
  isThere = false;
  expect(await offered()).toEqual(["tidy"]);
  const read = await library.catalog?.readResource({ path: "tidy/references/by name.md" });
  expect(read).toMatchObject({ value: { resource: { content: "A to Z." } } });
});

it("keeps the others while one skill is being removed", async () => {
  await put("going/SKILL.md", "---\nname: going\ndescription: Goes.\n---\nGo.\n");
  const listed = served.fetch.bind(served);
  const racing: ServedFolder = {
    async fetch(address) {
      const response = await listed(address);
      if (address.endsWith("skills/")) await rm(path.join(folder, "going"), { recursive: true });
      return response;
    },
  };
  expect(await libraryOf(await agreed(), skills.folder(racing)).offered()).toEqual(["tidy"]);
});

it("names the variable that a bot without a folder needs", () => {
  expect(() => skills.folder(undefined)).toThrow(/SKILLS_FOLDER/);
  expect(() => skills.folder("./skills" as never)).toThrow(/SKILLS_FOLDER/);
});
