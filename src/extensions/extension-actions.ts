import { objectSchema } from "../core/json/object-schema.ts";
import type { ObjectInput } from "../core/json/object-schema.ts";
import type { ActionContext } from "../actions/declare/action-context.ts";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { ActionError } from "../actions/declare/action-errors.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import { isRecord } from "../core/json/is-record.ts";
import type { Executor } from "../sandbox/index.ts";
import type { ExtensionCallRules, ExtensionRules } from "./extension-config.ts";
import { canChange, canWrite, ExtensionHost, hasHost, reachesNetwork } from "./extension-host.ts";
import type { ExtensionChange, ReachableParts } from "./extension-host.ts";
import { ExtensionFailure, modelName, runTask } from "./loaded-extension.ts";
import type { ExtensionTool, LoadedExtension } from "./loaded-extension.ts";

export interface ExtensionActionsOptions {
  readonly executor: Executor;
  readonly parts: ReachableParts;
  /** The rules of the bot's own code. An extension has none. */
  readonly rules: ExtensionRules;
}

/** The end of a run, as the log of its call has it. */
interface RunEnd {
  readonly output: unknown;
  readonly changes: readonly ExtensionChange[];
}

/** Words of our own that a model may read. */
const READABLE = /^(?:workspace|context|extension)-/;

/**
 * Returns the actions that stand for the tools of an extension, so that each call has its consent, permissions, ledger,
 * limits and audit.
 *
 * @throws {ConfigurationError} those of `action`, for rules that contradict each other
 */
export function extensionActions(extension: LoadedExtension, options: ExtensionActionsOptions): ThinkActions {
  return Object.fromEntries(
    extension.tools.map((tool) => [
      modelName(extension.manifest, tool.name),
      toolAction(extension, tool, options),
    ]),
  );
}

/**
 * A tool without permissions reaches nothing, so nobody is asked about it. The description is a stranger's: it is no
 * sentence that somebody should agree to.
 *
 * A call that changes files or memory first records all its changes, and then makes them: an interrupted one makes the
 * rest of the recorded changes, and its code does not run again. A call over the network is never repeated.
 */
function toolAction(
  extension: LoadedExtension,
  tool: ExtensionTool,
  options: ExtensionActionsOptions,
): Action {
  const { manifest } = extension;
  const { approval, ...rules } = rulesOf(options.rules, tool.name);
  const changes = canChange(manifest);
  const asks = approval ?? changes;
  const isRepeated = changes && !reachesNetwork(manifest.permissions ?? {});
  const action = defineAction<ReturnType<typeof objectSchema>, unknown, ActionContext>({
    ...rules,
    description: tool.description,
    inputSchema: objectSchema(tool.inputSchema),
    approvalSummary: `${manifest.name}: ${tool.name}`,
    approval:
      typeof asks === "function"
        ? ({ input }: { readonly input: ObjectInput }) => asks({ tool: tool.name, input })
        : asks,
    ...(!changes && { annotations: { readOnly: true } }),
    ...(isRepeated && {
      idempotencyKey: ({ ctx }: { readonly ctx: ActionContext }) =>
        `extension:${ctx.requestId}:${ctx.toolCallId}`,
    }),
    execute: (input, ctx) => inWords(() => callTool(extension, tool.name, { input, ctx, options })),
  });
  // Its absence means nothing while the extensions are not loaded.
  return { ...action, isTool: true };
}

/** Rules of the tool win over those of its extension. */
function rulesOf({ tools = {}, ...all }: ExtensionRules, name: string): ExtensionCallRules {
  return { ...all, ...(Object.hasOwn(tools, name) && tools[name]) };
}

interface ToolCall {
  readonly input: ObjectInput;
  readonly ctx: ActionContext;
  readonly options: ExtensionActionsOptions;
}

async function callTool(
  { manifest, source }: LoadedExtension,
  name: string,
  { ctx, input, options: { executor, parts } }: ToolCall,
): Promise<unknown> {
  const { signal } = ctx;
  const host = new ExtensionHost({ manifest, parts, signal, mayFetch: true });
  const run = async (): Promise<RunEnd> => {
    const task = { kind: "tool", name, input, hasHost: hasHost(manifest) } as const;
    const output = plain(await runTask(executor, source, task, { host, signal }));
    return { output: output ?? null, changes: host.changes };
  };
  if (!canChange(manifest)) return (await run()).output;
  const change = async (): Promise<unknown> => {
    const { changes, output } = await ctx.step("run", run);
    await host.apply(changes);
    return output;
  };
  return canWrite(manifest) ? parts.changing.run(signal, change) : change();
}

/** Words of this house that only the product itself may say to a model. */
function plain(output: unknown): unknown {
  return isRecord(output) && ("waiting" in output || "error" in output) ? { result: output } : output;
}

/** The model reads why a call has failed. The words of an extension are data of a stranger, as its results are. */
async function inWords<Output>(work: () => Promise<Output>): Promise<Output> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExtensionFailure) throw new ActionError(`The extension failed: ${error.message}`);
    if (error instanceof SwitchboardError && READABLE.test(error.code)) throw new ActionError(error.message);
    throw error;
  }
}
