import type { SkillScriptRequest, SkillScriptRunner } from "agents/skills";
import { checkOptions, FLAG, isObject, whole } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import { createQuickJSExecutor } from "../sandbox/index.ts";
import type { Executor, SandboxLimit } from "../sandbox/index.ts";
import { fitsGlob } from "../core/text/glob.ts";
import type { SkillFiles } from "./skill-files.ts";
import { scriptCode } from "./script-code.ts";

/** Options of `skills.runner`. */
export interface SkillRunnerOptions {
  /** The files that scripts can read: `this.workspace`. @default none */
  readonly workspaceInstance?: SkillFiles;
  /** Whether scripts may also write files. They are written after a script has ended well. @default false */
  readonly mayWrite?: boolean;
  /**
   * Functions of the bot's own code that scripts may call, as `ctx.tools.call(name, input)`. They run without approval
   * and ledger, so give only those that change nothing.
   *
   * @default none
   */
  readonly tools?: Readonly<Record<string, (input: unknown) => unknown>>;
  /** Time limit of a script, in milliseconds, at most 60000. @default 30000 */
  readonly timeout?: number;
  /** Runs the code: any `Executor` of `@cloudflare/codemode`. @default QuickJS, inside of the object */
  readonly executor?: Executor;
}

const OPTIONS: OptionRules<SkillRunnerOptions> = {
  workspaceInstance: ["this.workspace", isObject],
  mayWrite: FLAG,
  tools: ["an object of functions", isObject],
  timeout: whole(1, 60_000),
  executor: ["an executor", isObject],
};

export const DEFAULT_TIMEOUT_MS = 30_000;
const MOST_OUTPUTS = 20;
/** Most characters of one file that a script writes. */
const LONGEST_OUTPUT = 200_000;

/** A script that can be dropped. */
export interface StoppableScript extends SkillScriptRequest {
  /** Aborts when the turn is stopped. */
  readonly signal?: AbortSignal;
  /** Hears which limit of the sandbox has ended the script. */
  readonly onLimit?: (limit: SandboxLimit) => void;
}

/** Runs the scripts of skills in a sandbox. */
export interface SandboxScriptRunner extends SkillScriptRunner {
  readonly timeoutMs: number;
  /** Whether a script changes nothing outside of its result. */
  readonly isReadOnly: boolean;
}

/**
 * Returns the runner of skills' scripts, in JavaScript: without a network, and with nothing but what it is given here.
 *
 * @throws {ConfigurationError} `skills-option`
 */
export function runner(options: SkillRunnerOptions = {}): SandboxScriptRunner {
  checkOptions(options, OPTIONS, { owner: "skills.runner", code: "skills-option" });
  const { mayWrite = false, timeout = DEFAULT_TIMEOUT_MS, tools = {} } = options;
  const executor = options.executor ?? createQuickJSExecutor({ limits: { timeoutMs: timeout } });
  return {
    timeoutMs: timeout,
    isReadOnly: !mayWrite && Object.keys(tools).length === 0,
    run: (request) => run(request, options, executor),
  };
}

async function run(
  { input, onLimit, path, resources = [], signal, skill, source }: StoppableScript,
  { mayWrite = false, tools = {}, workspaceInstance: files }: SkillRunnerOptions,
  executor: Executor,
): Promise<unknown> {
  const { allowedTools, compatibility, description, license, metadata, name } = skill;
  const texts = resources.filter(({ encoding = "text" }) => encoding === "text");
  const made = scriptCode(path, source, {
    input,
    skill: { name, description, license, compatibility, metadata, allowedTools },
    files: Object.fromEntries(texts.map((file) => [file.path, file.content])),
  });
  if (made.kind === "refused") throw refused(made.reason);
  const outputs: Record<string, string> = {};
  const written = new Map<string, string>();
  const reading = (): NonNullable<typeof files> => {
    if (files === undefined) throw refused("This bot gives scripts no files.");
    return files;
  };
  const fns: Record<string, (...given: unknown[]) => Promise<unknown>> = {
    async readFile(at) {
      const given = String(at);
      if (written.has(given)) return written.get(given);
      return (await reading().stat(given)) === undefined
        ? null
        : new TextDecoder().decode(await reading().readFile(given));
    },
    listFiles: async (folder = "/") => (await reading().listFiles(String(folder))).map((file) => file.path),
    glob: async (pattern) =>
      (await reading().listFiles()).flatMap((file) =>
        fitsGlob(file.path, String(pattern)) ? [file.path] : [],
      ),
    async stat(at) {
      const found = await reading().stat(String(at));
      return found === undefined ? null : { type: "file", size: found.sizeBytes };
    },
    async writeFile(at, content) {
      if (!mayWrite) throw refused("This bot does not let scripts write files.");
      reading();
      written.set(String(at), textOf(content));
      if (written.size > MOST_OUTPUTS) throw refused(`A script writes at most ${MOST_OUTPUTS} files.`);
    },
    async output(file, content) {
      outputs[String(file).slice(0, 255)] = textOf(content);
      if (Object.keys(outputs).length > MOST_OUTPUTS)
        throw refused(`A script writes at most ${MOST_OUTPUTS} files.`);
    },
    async tool(tool, given) {
      const called = typeof tool === "string" && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
      if (called === undefined)
        throw refused(`This bot gives scripts no tool "${String(tool).slice(0, 64)}".`);
      return called(given);
    },
  };
  const ended = await executor.execute(made.code, [{ name: "host", fns }], { signal });
  const { error, limit, logs = [], result } = ended;
  if (limit !== undefined) onLimit?.(limit);
  if (error !== undefined) throw refused(error.slice(0, 1000));
  for (const [at, content] of written) await reading().writeFile(at, content);
  return {
    result: result ?? null,
    ...(Object.keys(outputs).length > 0 && { files: outputs }),
    ...(logs.length > 0 && { logs: logs.slice(0, 50) }),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string" && content.length <= LONGEST_OUTPUT) return content;
  throw refused(`A script writes texts of at most ${LONGEST_OUTPUT} characters.`);
}

/** The model reads the words of this error. */
function refused(problem: string): SwitchboardError {
  return new SwitchboardError("skills-script", `The script did not run to its end. ${problem}`);
}
