import { z } from "zod";
import { ConfigurationError, SwitchboardError } from "../core/base/errors.ts";
import type { Executor, SandboxLimit } from "../sandbox/index.ts";
import { extensionCode } from "./extension-code.ts";
import type { ExtensionTask } from "./extension-code.ts";
import type { ExtensionHook, ExtensionInfo, ExtensionManifest } from "./extension-config.ts";
import { contextLabel } from "./extension-host.ts";
import type { ExtensionHost } from "./extension-host.ts";
import { toolSchema } from "./tool-schema.ts";

/** A tool of an extension, as the extension describes it. */
export interface ExtensionTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** An extension whose manifest is checked and whose tools are known. */
export interface LoadedExtension {
  readonly manifest: ExtensionManifest;
  readonly source: string;
  readonly tools: readonly ExtensionTool[];
  readonly hooks: readonly ExtensionHook[];
}

/** The code of an extension did not run to its end. Its words are those of a stranger. */
export class ExtensionFailure extends SwitchboardError {
  /** The limit that ended it. */
  readonly limit: SandboxLimit | undefined;

  constructor(words: string, limit: SandboxLimit | undefined) {
    super(limit === undefined ? "extension-failed" : "extension-limit", words);
    this.limit = limit;
  }
}

const TOOL_NAME = /^[A-Za-z]\w{0,33}$/;
const MOST_TOOLS = 32;
const LONGEST_WORDS = 1000;

const described = z.object({
  tools: z
    .array(
      z.object({
        name: z.string().regex(TOOL_NAME),
        description: z.string().max(LONGEST_WORDS).optional(),
        parameters: z.unknown().optional(),
        required: z.unknown().optional(),
        runs: z.literal(true),
      }),
    )
    .max(MOST_TOOLS),
  hooks: z.array(z.string()),
});

/** The name under which the model has a tool. Names of extensions have no `_`, so no two tools have the same. */
export function modelName({ name }: Pick<ExtensionManifest, "name">, tool: string): string {
  return `ext_${name}_${tool}`;
}

/**
 * Reads the tools of an extension from its source, in the sandbox.
 *
 * @throws {ConfigurationError} `extension-source` for tools that the bot cannot have
 * @throws {ExtensionFailure} if the source fails
 */
export async function describeExtension(
  executor: Executor,
  manifest: ExtensionManifest,
  source: string,
): Promise<LoadedExtension> {
  const problem = (words: string): ConfigurationError =>
    new ConfigurationError("extension-source", `The extension "${manifest.name}" ${words}.`);
  const run = runTask(executor, source, { kind: "describe" });
  const found = described.safeParse(
    await run.catch((error: unknown) => {
      const isUnreadable = error instanceof ExtensionFailure && error.message.startsWith("SyntaxError");
      throw isUnreadable ? problem("has a source that is no JavaScript without imports and exports") : error;
    }),
  );
  if (!found.success)
    throw problem(
      `must be one object of tools and hooks: at most ${MOST_TOOLS} tools with an execute, whose names have 1 to 34 letters, digits and _`,
    );
  const tools = found.data.tools.map(({ description = "", name, parameters, required }) => {
    const inputSchema = toolSchema(parameters, required);
    if (inputSchema === undefined)
      throw problem(`has a tool "${name}" whose parameters are no JSON Schemas that models take`);
    return { name, description: description || `The tool ${name} of ${manifest.name}.`, inputSchema };
  });
  const missing = manifest.hooks?.find((hook) => !found.data.hooks.includes(hook));
  if (missing !== undefined) throw problem(`has no function for the hook "${missing}" of its manifest`);
  return { manifest, source, tools, hooks: [...new Set(manifest.hooks)] };
}

/**
 * Runs code of an extension.
 *
 * @throws {ExtensionFailure} if it fails or reaches a limit
 */
export async function runTask(
  executor: Executor,
  source: string,
  task: ExtensionTask,
  { host, signal }: { readonly host?: ExtensionHost; readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const providers = host === undefined ? [] : [{ name: "bridge", fns: host.fns() }];
  const { error, limit, result } = await executor.execute(
    extensionCode(source, task),
    providers,
    signal === undefined ? {} : { signal },
  );
  if (error !== undefined) throw new ExtensionFailure(error.slice(0, LONGEST_WORDS), limit);
  return result;
}

export function infoOf({ manifest, tools }: LoadedExtension): ExtensionInfo {
  const { context = [], description, name, permissions = {}, version } = manifest;
  return {
    name,
    version,
    ...(description !== undefined && { description }),
    tools: tools.map((tool) => modelName(manifest, tool.name)),
    contextLabels: context.map(({ label }) => contextLabel(manifest, label)),
    permissions,
  };
}
