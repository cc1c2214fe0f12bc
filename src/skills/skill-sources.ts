import { manifest, r2 as bucketOf, workspace as folderOf } from "agents/skills";
import type { R2SkillSourceOptions, SkillManifest, SkillSource } from "agents/skills";
import { z } from "zod";
import { ConfigurationError } from "../core/base/errors.ts";
import type { SkillFiles } from "./skill-files.ts";

const ROOT = "/skills";

/** Sources that are part of the bot's code. */
const own = new WeakSet<SkillSource>();

/** Whether the skills of a source are part of the bot's code, which its author has reviewed. */
export function isOwnSource(source: SkillSource): boolean {
  return own.has(source);
}

/** Returns skills that are part of the bot's code, such as the file that `switchboard skills add` writes. */
export function fromManifest(definition: SkillManifest): SkillSource {
  const source = manifest(definition);
  own.add(source);
  return source;
}

/** Returns the skills of a bucket of R2: `<prefix><name>/SKILL.md`, with files beside it. Each must be in the `lock`. */
export function r2(bucket: Parameters<typeof bucketOf>[0], options?: R2SkillSourceOptions): SkillSource {
  return bucketOf(bucket, options);
}

/** A folder of the machine, as `switchboard serve` gives it to a bot: `this.env.SKILLS_FOLDER`. */
export interface ServedFolder {
  fetch(address: string): Promise<Response>;
}

/** Files of one skill that are looked for. A skill with so many is not offered. */
const MOST_FILES = 200;
/** A larger file is none. */
const MOST_BYTES = 2_000_000;

const listing = z.array(z.object({ name: z.string(), type: z.string() }));

/**
 * Returns the skills of the folder `SKILLS_FOLDER` of `switchboard serve` and `dev`: `<name>/SKILL.md`, with files beside
 * it. Each must be in the `lock`. Links are not followed.
 *
 * @throws {ConfigurationError} `skills-folder` if the bot has no such folder
 */
export function folder(served: ServedFolder | undefined): SkillSource {
  if (typeof served?.fetch !== "function")
    throw new ConfigurationError(
      "skills-folder",
      "The bot has no folder of skills. Set SKILLS_FOLDER in the environment of switchboard serve, or leave skills.folder() out of getSkills().",
    );
  /** Undefined for a file that is gone. */
  const read = async (path: string): Promise<Response | undefined> => {
    const response = await served.fetch(`http://skills${path.split("/").map(encodeURIComponent).join("/")}`);
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    throw new Error(`The folder of skills answers ${response.status}.`);
  };
  const inside = async (path: string) => listing.parse((await (await read(`${path}/`))?.json()) ?? []);
  const filesOf = async (path: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const { name, type } of await inside(path)) {
      if (type === "file") found.push(`${path}/${name}`);
      else if (type === "directory") found.push(...(await filesOf(`${path}/${name}`)));
      if (found.length > MOST_FILES) break;
    }
    return found;
  };
  const fs = {
    find: async () => {
      const folders = (await inside("")).filter(({ type }) => type === "directory");
      const files = await Promise.all(folders.map(({ name }) => filesOf(`/${name}`)));
      return files.flat().map((path) => ({ path: `${ROOT}${path}`, type: "file" }));
    },
    readFile: async (path: string) => {
      const response = await read(path.slice(ROOT.length));
      if (response?.body && Number(response.headers.get("content-length")) <= MOST_BYTES)
        return response.body as ReadableStream<Uint8Array>;
      await response?.body?.cancel();
      throw new Error("ENOENT: It is gone or too large.");
    },
  };
  return folderOf({ fs }, { root: ROOT, id: "folder" });
}

/** Returns the skills of the conversation's files: `/skills/<name>/SKILL.md`. Each must be in the `lock`. */
export function workspaceSkills(
  workspace: Pick<SkillFiles, "listFiles" | "readFile">,
  options: { readonly root?: string } = {},
): SkillSource {
  const fs = {
    find: async (directory: string) =>
      (await workspace.listFiles(directory)).map(({ path }) => ({ path, type: "file" })),
    readFile: async (path: string) => {
      const bytes = await workspace.readFile(path);
      return new Response(bytes.slice()).body as ReadableStream<Uint8Array>;
    },
  };
  return folderOf({ fs }, { root: options.root ?? ROOT });
}
