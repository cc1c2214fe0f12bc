import { createHash } from "node:crypto";
import type { Skill, SkillCatalogEntry, SkillManifestEntry, SkillSource } from "agents/skills";
import { canonicalJson } from "../core/json/canonical-json.ts";

/** A skill with all of its files, as they were read at one moment. */
export interface SkillSnapshot {
  readonly skill: Skill;
  readonly files: readonly SkillFile[];
}

export interface SkillFile {
  readonly path: string;
  /** Text, or base64. */
  readonly content: string;
  readonly encoding: "text" | "base64";
}

const MOST_FILES = 100;
/** Most characters of all files of a skill. */
const MOST_CHARACTERS = 2_000_000;

/** Reads all files of a skill. Undefined if it is too large, or a file cannot be read now. */
export async function readSkill(
  source: SkillSource,
  { resources, skill }: Pick<SkillCatalogEntry, "skill" | "resources">,
): Promise<SkillSnapshot | undefined> {
  if (resources.length > MOST_FILES) return undefined;
  const files: SkillFile[] = [];
  let characters = skill.body.length;
  for (const { path } of resources) {
    const read = await source.readResource(skill.name, path);
    if (!read.ok) return undefined;
    const { content, encoding } = read.value;
    characters += content.length;
    if (characters > MOST_CHARACTERS) return undefined;
    files.push({ path, content, encoding });
  }
  return { skill, files };
}

/** Returns the SHA-256 of everything that a model can read of a skill, and of its scripts. */
export function hashOfSkill({ files, skill }: SkillSnapshot): string {
  const { allowedTools, body, compatibility, description, license, metadata, name } = skill;
  const hashes = files
    .map(({ content, encoding, path }) => [
      path,
      sha256(Buffer.from(content, encoding === "text" ? "utf8" : "base64")),
    ])
    .toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  const said = {
    name,
    description,
    license,
    compatibility,
    metadata,
    allowedTools,
    body: body.trim(),
    files: hashes,
  };
  return sha256(canonicalJson(JSON.parse(JSON.stringify(said))));
}

/** Returns a skill as code has it. */
export function manifestEntryOf({ files, skill }: SkillSnapshot): SkillManifestEntry {
  const { allowedTools, body, compatibility, description, license, metadata, name } = skill;
  return {
    name,
    description,
    body: body.trim(),
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(allowedTools.length > 0 && { allowedTools: allowedTools.join(" ") }),
    ...(files.length > 0 && { resources: files }),
  };
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
