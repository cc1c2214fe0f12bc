import type { ToolSet } from "ai";
import { ConfigurationError } from "../../core/base/errors.ts";
import { isSchema } from "../../core/json/is-schema.ts";

type BotTool = ToolSet[string];

/**
 * The tools of a bot: an AI SDK `ToolSet` whose tools may say two things about their calls.
 *
 * - `annotations.readOnly`: the tool changes nothing. It runs at once, while the person may still be writing, and it
 *   runs again after a crash unless its `recovery` says otherwise. `@default false`
 * - `recovery`: what happens to a call that a crash interrupted. `"rerun"`: the tool does no harm when it runs twice, so
 *   it runs again. `"report"`: the model reads that the call may or may not have had its effect.
 *   `@default "report"`, or `"rerun"` for a tool that only reads
 */
export type ThinkTools = Record<
  string,
  BotTool & {
    readonly annotations?: { readonly readOnly?: boolean };
    readonly recovery?: "rerun" | "report";
  }
>;

/** Tells whether a tool declares that it changes nothing. */
export function isReadOnly(tool: object | undefined): boolean {
  return isAnnotated(tool, "readOnly");
}

/** Tells whether calls of a tool with effects may run side by side. Others run one after the other. */
export function runsBeside(tool: object | undefined): boolean {
  return tool !== undefined && Reflect.get(tool, "runsBeside") === true;
}

/** Tells whether a call of a read-only tool may get the result of an equal call of its turn. */
export function mayRepeatResult(tool: object | undefined): boolean {
  return isAnnotated(tool, "mayRepeatResult");
}

/**
 * Completes the input of a call before it is checked, from the outputs of the turn's calls, in their order. The output of
 * a call that has none yet is undefined. Returns the input, or the output of a call that cannot run.
 */
export type FillInput = (
  input: unknown,
  calls: () => Promise<readonly unknown[]>,
) => Promise<{ readonly input: unknown } | { readonly output: unknown }>;

/** Returns the tool's own function for that. */
export function fillInputOf(tool: object | undefined): FillInput | undefined {
  const fill = tool !== undefined && "fillInput" in tool ? tool.fillInput : undefined;
  return typeof fill === "function" ? (fill as FillInput) : undefined;
}

function isAnnotated(tool: object | undefined, name: string): boolean {
  if (tool === undefined || !("annotations" in tool)) return false;
  const { annotations } = tool;
  if (typeof annotations !== "object" || annotations === null) return false;
  return Reflect.get(annotations, name) === true;
}

/** Whether a call of this tool may run again after a crash interrupted it. */
export function mayRerun(tool: object | undefined): boolean {
  const recovery = tool !== undefined && "recovery" in tool ? tool.recovery : undefined;
  return recovery === "rerun" || (recovery === undefined && isReadOnly(tool));
}

/**
 * Returns the tools, if every one of them can be called.
 *
 * @throws {ConfigurationError} `tool-input-schema`, `tool-needs-approval`, `tool-without-execute`: see `toolProblem`
 */
export function usableTools(tools: ToolSet): ToolSet {
  const problem = toolProblem(tools);
  if (problem !== undefined) throw problem;
  return tools;
}

/**
 * Returns the error for the first tool that neither the bot nor the model's provider runs, that nobody can be asked
 * about, or whose input has no schema. Each would end the answer without a word. Undefined if there is none.
 */
export function toolProblem(tools: ToolSet): ConfigurationError | undefined {
  for (const [name, tool] of Object.entries(tools)) {
    if (tool.type === "provider" && isLeftToBot(tool)) {
      return new ConfigurationError(
        "tool-without-execute",
        `The tool "${name}" is defined by the model's provider and has to be run by the bot, which is not supported. Declare it with tool({ inputSchema, execute }), or leave it out of getTools().`,
      );
    }
    if (tool.type !== "provider" && typeof tool.execute !== "function") {
      return new ConfigurationError(
        "tool-without-execute",
        `The tool "${name}" has no execute function, so nobody would run it. Give it one, or leave it out of getTools().`,
      );
    }
    const schema: unknown = tool.inputSchema;
    // Without a schema the tool has no input.
    if (schema !== undefined && schema !== null && !isSchema(schema)) {
      return new ConfigurationError(
        "tool-input-schema",
        `The inputSchema of the tool "${name}" is no schema, so the model cannot be offered the tool. Wrap the fields: z.object({ ... }), or jsonSchema({ ... }) of the AI SDK.`,
      );
    }
    if (mayNeedApproval(tool)) {
      return new ConfigurationError(
        "tool-needs-approval",
        `The tool "${name}" has needsApproval, and nobody can be asked about it. Only tools of getTools() that the bot runs can need approval. Move it there, or remove needsApproval.`,
      );
    }
  }
  return undefined;
}

/**
 * Tells whether a tool may need approval. A function decides with each call, so it is not known whether it ever says
 * yes.
 */
function mayNeedApproval(tool: BotTool): boolean {
  // oxlint-disable-next-line typescript/no-deprecated -- the turn engine still acts on it
  const { needsApproval } = tool;
  return typeof needsApproval === "function" || needsApproval === true;
}

/** Tells whether the bot must run the tool. The provider runs its own tools, unless they say otherwise. */
function isLeftToBot({ execute, isProviderExecuted }: BotTool): boolean {
  return isProviderExecuted === false || (isProviderExecuted !== true && execute !== undefined);
}
