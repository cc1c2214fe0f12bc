import { manifest, r2 as bucketOf, workspace as folderOf } from "agents/skills";
import type { R2SkillSourceOptions, SkillManifest, SkillSource } from "agents/skills";
import type { SkillFiles } from "./skill-files.ts";

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
  return folderOf({ fs }, { root: options.root ?? "/skills" });
}
