import { checkOptions, isObject, isText, type OptionRules } from "../core/json/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { runner } from "./skill-runner.ts";
import { folder, fromManifest, r2, workspaceSkills } from "./skill-sources.ts";
import { SkillsFeature, type SkillsOptions } from "./skills-feature.ts";

const OPTIONS: OptionRules<SkillsOptions> = {
  lock: [
    "an object of hashes by name",
    (value) =>
      isObject(value) && Object.values(value).every((hash) => isText(hash) && /^[0-9a-f]{64}$/.test(hash)),
  ],
};

/**
 * Gives the model the skills that `getSkills()` returns.
 *
 * @throws {ConfigurationError} `skills-option`
 */
function createSkills(options: SkillsOptions = {}): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "skills", code: "skills-option" });
  return new ImportedFeature({ name: "skills", create: (host) => new SkillsFeature(host, options) });
}

/**
 * Brings skills into a bot, and makes their sources and the runner of their scripts.
 *
 * @example
 * export class DeskBot extends Think<Env> {
 *   static override skills = skills({ lock });
 *   override getSkills() { return [bundled, skills.r2(this.env.SKILLS, { prefix: "skills/" })]; }
 *   override getSkillScriptRunner() { return skills.runner(); }
 * }
 */
export const skills = Object.assign(createSkills, {
  fromManifest,
  r2,
  folder,
  workspace: workspaceSkills,
  runner,
});
