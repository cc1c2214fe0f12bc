import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { hashOfSkill, manifestEntryOf, readSkill } from "../../src/skills/skill-snapshot.ts";
import type { SkillSnapshot } from "../../src/skills/skill-snapshot.ts";
import { CommandError } from "../command-error.ts";

/** The file in which a bot's folder of skills keeps what its author has agreed to. */
export const LOCK = "skills.lock.json";
/** The module that bundlers take. */
export const MODULE = "index.ts";

/** The hash of a skill. `isPinned`: it is somewhere else, such as in a bucket. */
export interface Agreed {
  readonly hash: string;
  readonly isPinned?: boolean;
}
export type Lock = Readonly<Record<string, Agreed>>;

/**
 * Reads the skill of a folder.
 *
 * @throws {CommandError} `skill-invalid`
 */
export async function readSkillFolder(folder: string): Promise<SkillSnapshot> {
  const name = path.basename(folder);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
  // An image of a bot leaves this package out, and its help lists this command all the same.
  const { workspace } = await import("agents/skills");
  const source = workspace(
    {
      fs: {
        find: () => Promise.resolve(files.map((file) => ({ path: `/skills/${name}/${file}`, type: "file" }))),
        readFile: async (file) => {
          const bytes = await readFile(path.join(folder, file.slice(`/skills/${name}/`.length)));
          return new Blob([new Uint8Array(bytes)]).stream() as ReadableStream<Uint8Array>;
        },
      },
    },
    { root: "/skills" },
  );
  const listed = await source.list();
  const found = listed.ok ? listed.value.skills[0] : undefined;
  if (found === undefined) {
    const reason = listed.ok ? listed.value.invalid[0]?.error.message : undefined;
    throw new CommandError("skill-invalid", `${folder} has no skill: ${reason ?? "there is no SKILL.md"}`);
  }
  const snapshot = await readSkill(source, found);
  if (snapshot !== undefined) return snapshot;
  throw new CommandError("skill-invalid", `${folder} has too many or too large files.`);
}

/** Returns the lock of a bot's folder. Empty if there is none. */
export async function readLock(folder: string): Promise<Lock> {
  const text = await readFile(path.join(folder, LOCK), "utf8").catch(() => "{}");
  try {
    return JSON.parse(text) as Lock;
  } catch {
    throw new CommandError("skills-lock", `${path.join(folder, LOCK)} is no JSON. Restore it, or delete it.`);
  }
}

/** Returns the module of a bot's skills, which every bundler takes. */
export async function moduleOf(folder: string, lock: Lock): Promise<string> {
  const names = Object.keys(lock).toSorted();
  const own = names.filter((name) => lock[name]?.isPinned !== true);
  const snapshots = await Promise.all(own.map((name) => readSkillFolder(path.join(folder, name))));
  const hashes = Object.fromEntries(names.map((name) => [name, lock[name]?.hash ?? ""]));
  const definition = { id: "skills", skills: snapshots.map(manifestEntryOf) };
  return [
    "/** Written by `switchboard skills add`, which shows a skill first. Changes here are lost. */",
    'import { skills } from "switchboard/skills";',
    "",
    `export const lock = ${JSON.stringify(hashes, null, 2)};`,
    "",
    `export default skills.fromManifest(${JSON.stringify(definition, null, 2)});`,
    "",
  ].join("\n");
}

/** The state of a skill in a bot's folder. */
export interface SkillState {
  readonly name: string;
  readonly state: "agreed" | "pinned" | "changed" | "gone" | "not-added";
  readonly hash: string;
}

/** Compares the folders of skills with the lock. */
export async function statesOf(folder: string): Promise<readonly SkillState[]> {
  const lock = await readLock(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const names = [...new Set([...Object.keys(lock), ...folders])].toSorted();
  return Promise.all(
    names.map(async (name): Promise<SkillState> => {
      const agreed = lock[name];
      if (agreed?.isPinned === true) return { name, state: "pinned", hash: agreed.hash };
      const read = await readSkillFolder(path.join(folder, name)).catch(() => undefined);
      if (read === undefined)
        return { name, state: agreed === undefined ? "not-added" : "gone", hash: agreed?.hash ?? "" };
      const hash = hashOfSkill(read);
      if (agreed === undefined) return { name, state: "not-added", hash };
      return { name, state: agreed.hash === hash ? "agreed" : "changed", hash };
    }),
  );
}
