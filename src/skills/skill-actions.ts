import type { SkillCatalog, SkillScriptRunner } from "agents/skills";
import { z } from "zod";
import type { ActionContext } from "../actions/declare/action-context.ts";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { ActionError } from "../actions/declare/action-errors.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import type { StoppableScript } from "./skill-runner.ts";

const nameInput = z.object({ name: z.string().max(64).describe("Name of the skill, from the list") });
const resourceInput = z.object({
  name: z.string().max(64).optional().describe("Name of the skill"),
  path: z.string().max(512).describe("Path in the skill, or with the name of the skill in front"),
});
const scriptInput = z.object({
  name: z.string().max(64).describe("Name of the skill"),
  path: z.string().max(512).describe("Path of the script, such as scripts/format.js"),
  input: z.unknown().optional().describe("What the script gets"),
});

const READS = { annotations: { readOnly: true } } as const;

/**
 * The model's tools for skills. A skill is words and scripts: it has no rights, and whatever it makes the model do goes
 * through the actions and their permissions.
 */
export function skillActions(catalog: SkillCatalog, runner: RunnerOfSkills | undefined): ThinkActions {
  if (catalog.skills.length === 0) return {};
  return {
    activate_skill: activate(catalog),
    read_skill_resource: readResource(catalog),
    ...(runner !== undefined && { run_skill_script: runScript(catalog, runner) }),
  };
}

/** A runner of scripts, with what is known of it. */
export interface RunnerOfSkills extends SkillScriptRunner {
  /** @default 30000 */
  readonly timeoutMs?: number;
  /** @default false */
  readonly isReadOnly?: boolean;
}

function activate(catalog: SkillCatalog): Action {
  return defineAction<typeof nameInput, string, ActionContext>({
    ...READS,
    description: "Read the instructions of a skill, before you do what it is for.",
    inputSchema: nameInput,
    execute: ({ name }) => {
      const found = catalog.activate(name);
      if (!found.ok) throw new ActionError(`There is no skill "${name}".`);
      return found.value;
    },
  });
}

function readResource(catalog: SkillCatalog): Action {
  return defineAction<typeof resourceInput, unknown, ActionContext>({
    ...READS,
    description: "Read a file of a skill.",
    inputSchema: resourceInput,
    execute: async ({ name, path }) => {
      const { content, encoding, mimeType } = await resource(catalog, name, path);
      return encoding === "text" ? content : { path, mimeType, base64: content };
    },
  });
}

function runScript(catalog: SkillCatalog, runner: RunnerOfSkills): Action {
  const { isReadOnly = false, timeoutMs = 30_000 } = runner;
  return defineAction<typeof scriptInput, unknown, ActionContext>({
    ...(isReadOnly && READS),
    description: "Run a script of a skill, as its instructions say.",
    inputSchema: scriptInput,
    timeoutMs: timeoutMs + 5_000,
    execute: async ({ input, name, path }, { log, signal }) => {
      const script = await resource(catalog, name, path);
      const entry = catalog.find(name);
      if (entry === undefined || script.kind !== "script")
        throw new ActionError("Only files below scripts/ of a skill can be run.");
      const resources = await Promise.all(
        entry.resources.map(async (one) => {
          const { content, encoding } = await resource(catalog, name, one.path);
          return { path: one.path, content, encoding, kind: one.kind };
        }),
      );
      try {
        const { skill } = entry;
        const request: StoppableScript = {
          skill,
          path,
          source: script.content,
          input,
          resources,
          signal,
          onLimit: (limit) => log({ message: "A limit of the sandbox has ended a script.", meta: { limit } }),
        };
        return await runner.run(request);
      } catch (error) {
        if (error instanceof SwitchboardError) throw new ActionError(error.message);
        throw error;
      }
    },
  });
}

async function resource(catalog: SkillCatalog, name: string | undefined, path: string) {
  const read = await catalog.readResource({ path, ...(name !== undefined && { name }) });
  if (!read.ok) throw new ActionError(`There is no such file of a skill: ${path}`);
  return read.value.resource;
}
