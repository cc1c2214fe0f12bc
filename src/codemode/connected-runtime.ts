import { jsonSchema } from "ai";
import type { Schema } from "ai";
import { ActionError, isFailure } from "../actions/declare/action-errors.ts";
import type { ActionContext } from "../actions/declare/action-context.ts";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import { toJson } from "../actions/declare/normalize-output.ts";
import { codeCallOf, isCodeCall } from "../core/action/code-call.ts";
import type { Json } from "../core/message/content.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { objectSchema } from "../core/json/object-schema.ts";
import type { Executor } from "../sandbox/executor.ts";
import type { PassConnector } from "./code-pass.ts";
import type { CodeCall } from "./code-store.ts";
import { derivedFrom } from "./connector.ts";
import type { CodemodeConnector } from "./connector.ts";
import type { ConnectorDescription, ConnectorTool, ToolExecuteContext } from "./connector-tool.ts";
import { typesOf } from "./types-of.ts";

/** The log of runs, as the tools of connectors use it. */
export interface RunLog {
  /** Stores the whole result of a call. */
  keepResult(run: string, position: number, result: Json): void;
}

export interface ConnectedRuntimeOptions {
  readonly name: string;
  readonly executor: Executor;
  readonly connectors: readonly CodemodeConnector[];
  readonly slowAfterMs: number;
  readonly log: () => RunLog | undefined;
  /** The same runtime, as bot code has made it before. Its tools are known already. */
  readonly earlier: ConnectedRuntime | undefined;
}

/** Longest result as JSON. A row of the database has 2 MB. */
const LONGEST_RESULT = 1_000_000;
const TOO_LONG = `The call worked, but its result has more than ${LONGEST_RESULT} characters. Ask for less.`;

/**
 * A runtime with its connectors, whose tools are actions of the bot that no model is offered, and its executor.
 */
export class ConnectedRuntime {
  readonly name: string;
  readonly executor: Executor;
  readonly slowAfterMs: number;
  readonly #connectors: readonly CodemodeConnector[];
  readonly #log: () => RunLog | undefined;
  #described: readonly ConnectorDescription[];
  #actions: ThinkActions | undefined;
  #isLoaded = false;

  constructor({ connectors, earlier, executor, log, name, slowAfterMs }: ConnectedRuntimeOptions) {
    this.name = name;
    this.executor = executor;
    this.slowAfterMs = slowAfterMs;
    this.#connectors = connectors;
    this.#log = log;
    this.#described = earlier?.described ?? [];
  }

  get described(): readonly ConnectorDescription[] {
    return this.#described;
  }

  /**
   * Reads the tools of the connectors.
   *
   * @throws {ConfigurationError} `codemode-connector` if two of them have one name
   */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    const described = await Promise.all(this.#connectors.map((one) => one.describe()));
    const names = described.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined)
      throw new ConfigurationError(
        "codemode-connector",
        `Two connectors have the name "${twice}". Give one of them another name().`,
      );
    this.#described = described;
    this.#actions = undefined;
    this.#isLoaded = true;
  }

  connectors(): readonly PassConnector[] {
    return this.#described.map(({ name, tools }) => {
      const rereads = Object.entries(tools).filter(([, tool]) => isReread(tool));
      return { name, methods: Object.keys(tools), rereads: new Set(rereads.map(([method]) => method)) };
    });
  }

  /** TypeScript's declarations of the connectors. */
  types(): string {
    return this.#described.map(typesOf).join("\n\n");
  }

  /** Returns the name of the action that makes a call. */
  actionOf({ connector, method }: Pick<CodeCall, "connector" | "method">): string {
    const tool = this.#toolOf(connector, method);
    return (tool && plainActionOf(tool)) ?? innerName(connector, method);
  }

  isRead({ connector, method }: Pick<CodeCall, "connector" | "method">): boolean {
    const tool = this.#toolOf(connector, method);
    return tool !== undefined && isRead(tool);
  }

  actions(): ThinkActions {
    this.#actions ??= Object.fromEntries(
      this.#described.flatMap(({ name, tools }) =>
        Object.entries(tools).flatMap(([method, tool]) =>
          plainActionOf(tool) === undefined
            ? [[innerName(name, method), this.#actionFor(innerName(name, method), tool)] as const]
            : [],
        ),
      ),
    );
    return this.#actions;
  }

  #toolOf(connector: string, method: string): ConnectorTool | undefined {
    const tools = this.#described.find(({ name }) => name === connector)?.tools ?? {};
    return Object.hasOwn(tools, method) ? tools[method] : undefined;
  }

  #actionFor(name: string, tool: ConnectorTool): Action {
    const own = derivedFrom(tool)?.action ?? this.#ownAction(name, tool);
    const asks = tool.requiresApproval === true;
    return {
      ...own,
      name,
      isTool: true,
      ...(asks && { approval: true, kind: "approval-gated" as const }),
      enabled: (ctx: Partial<ActionContext>) => isCodeCall(ctx.toolCallId ?? ""),
    };
  }

  #ownAction(name: string, tool: ConnectorTool): Action {
    const { description = name, inputSchema = { type: "object" }, permissions, revert } = tool;
    const isObject = inputSchema.type === "object";
    const action = defineAction<Schema, unknown, ActionContext>({
      description,
      inputSchema: isObject
        ? objectSchema(inputSchema, inputSchema.additionalProperties === false)
        : jsonSchema(inputSchema),
      approval: tool.requiresApproval === true,
      ...(permissions !== undefined && { permissions }),
      ...(isRead(tool) && { annotations: { readOnly: true } }),
      ...(tool.repeatable === true && {
        idempotencyKey: ({ ctx }: { ctx: ActionContext }) => ctx.toolCallId,
      }),
      ...(revert !== undefined && {
        revert: ({ ctx, input, output }) => revert(input, output, contextOf(ctx)),
      }),
      execute: async (input, ctx) => {
        const output = toJson(await tool.execute(input, contextOf(ctx)));
        return isReread(tool) || isFailure(output) ? output : this.#kept(ctx, output);
      },
    });
    return action;
  }

  /** Stores the whole result for the code. The ledger has what fits into it. */
  #kept({ toolCallId }: ActionContext, output: Json): Json {
    if (JSON.stringify(output).length > LONGEST_RESULT) throw new ActionError(TOO_LONG);
    const { position, run } = codeCallOf(toolCallId);
    this.#log()?.keepResult(run, position, output);
    return output;
  }
}

/** An effect that somebody must agree to is never repeated. */
function isReread({ replay, requiresApproval }: ConnectorTool): boolean {
  return replay === "reexecute" && requiresApproval !== true;
}

function isRead(tool: ConnectorTool): boolean {
  return isReread(tool) || (tool.readOnly === true && tool.requiresApproval !== true);
}

function innerName(connector: string, method: string): string {
  return `${connector}.${method}`;
}

/** Returns the bot's action that a tool stands for unchanged. */
function plainActionOf(tool: ConnectorTool): string | undefined {
  const derived = derivedFrom(tool);
  if (derived === undefined || tool.execute !== derived.execute || tool.revert !== undefined)
    return undefined;
  return tool.requiresApproval === true && !derived.asks ? undefined : derived.name;
}

function contextOf({ person, signal, toolCallId }: ActionContext): ToolExecuteContext {
  return { executionId: codeCallOf(toolCallId).run, callId: toolCallId, person, signal };
}
