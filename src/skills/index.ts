/** Skills: instructions and scripts that the model reads when it needs them. */
export { skills } from "./create-skills.ts";
export type { SkillFiles } from "./skill-files.ts";
export type { ServedFolder } from "./skill-sources.ts";
export type { SkillsOptions } from "./skills-feature.ts";
export type { SandboxScriptRunner, SkillRunnerOptions } from "./skill-runner.ts";
export type { SkillManifest, SkillRunContext, SkillScriptRunner, SkillSource } from "agents/skills";
