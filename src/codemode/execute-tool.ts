import { asSchema, tool } from "ai";
import type { JSONSchema7, Tool, ToolSet } from "ai";
import { z } from "zod";
import { ConfigurationError } from "../core/base/errors.ts";
import type { ExecuteResult, Executor, SandboxProvider } from "../sandbox/executor.ts";
import { createQuickJSExecutor } from "../sandbox/quickjs-executor.ts";
import type { SandboxLimits } from "../sandbox/sandbox-limits.ts";
import { loaderExecutor } from "./loader-executor.ts";
import type { WorkerLoaderBinding } from "./loader-executor.ts";
import { typesOf } from "./types-of.ts";

export interface ExecuteToolOptions {
  /** The tools that the code can call, as `codemode.<name>(input)`. */
  readonly tools: ToolSet;
  /** A `worker_loaders` binding, in whose Workers the code runs. @default in QuickJS inside the object */
  readonly loader?: WorkerLoaderBinding;
  /** Runs the code. @default that of `loader`, or QuickJS */
  readonly executor?: Executor;
  /** Limits of QuickJS. @default see `SandboxLimits` */
  readonly limits?: SandboxLimits;
}

const HOW =
  "Runs JavaScript: async () => { ... return result; }. Return only what you need. There is no network, timer or import.";

/**
 * Returns a tool that runs code of the model once, which calls the given tools. It keeps no log. For tools that need
 * people's consent, or that have effects which must happen once, use `createCodemodeRuntime`.
 *
 * @throws {ConfigurationError} `execute-tool-approval` for a tool that needs approval
 * @example getTools() { return { execute: createExecuteTool({ tools: { find } }) }; }
 */
export function createExecuteTool(options: ExecuteToolOptions): Tool<{ code: string }, ExecuteResult> {
  const { limits, loader, tools } = options;
  for (const [name, one] of Object.entries(tools)) {
    // oxlint-disable-next-line typescript/no-deprecated -- bots still declare approvals so
    if (one.needsApproval !== undefined && one.needsApproval !== false)
      throw new ConfigurationError(
        "execute-tool-approval",
        `The tool "${name}" needs approval, and code that createExecuteTool runs cannot wait. Use createCodemodeRuntime.`,
      );
  }
  const executor =
    options.executor ??
    (loader === undefined
      ? createQuickJSExecutor(limits === undefined ? {} : { limits })
      : loaderExecutor(loader));
  const described = Object.entries(tools).map(([name, { description, inputSchema }]) => {
    const schema: unknown = asSchema(inputSchema).jsonSchema;
    const words = typeof description === "string" ? { description } : {};
    return [name, { ...words, inputSchema: schema as JSONSchema7, execute: () => undefined }] as const;
  });
  const types = typesOf({ name: "codemode", tools: Object.fromEntries(described) });
  return tool({
    description: `${HOW}\n\n${types}`,
    inputSchema: z.object({ code: z.string() }),
    execute: async ({ code }: { readonly code: string }, { abortSignal, messages, toolCallId }) => {
      const provider: SandboxProvider = {
        name: "codemode",
        fns: Object.fromEntries(
          Object.entries(tools).map(([name, { execute }]) => [
            name,
            async (input: unknown): Promise<unknown> => {
              if (execute === undefined) throw new Error(`The tool "${name}" cannot be called by code.`);
              const call = { toolCallId, messages, abortSignal, context: undefined };
              return execute(input as never, call as never);
            },
          ]),
        ),
      };
      return executor.execute(code, [provider], { signal: abortSignal });
    },
  });
}
