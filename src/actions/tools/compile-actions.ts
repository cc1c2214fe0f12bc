import { asSchema, jsonSchema, tool } from "ai";
import type { ToolSet } from "ai";
import { ConfigurationError } from "../../core/base/errors.ts";
import type { Action, ThinkActions } from "../declare/action.ts";
import type { ActionHost } from "../runs/action-host.ts";
import type { LocalStates } from "../memory/action-states.ts";
import { fillTemplates, hasTemplates } from "./templates.ts";
import { invalidInput } from "../declare/action-errors.ts";
import type { ActionFailure } from "../declare/action-errors.ts";
import { isPlainRead } from "../ledger/plain-read.ts";
import { runAction } from "../runs/run-action.ts";

/**
 * Returns the model's tools for a bot's actions. Every call goes through the ledger, so an interrupted call may be
 * repeated after a crash.
 *
 * @param requestId returns the id of the turn that a call belongs to
 * @throws {ConfigurationError} `action-name-twice` if two actions have the same name, `action-not-made` for one whose
 *   options nobody has checked
 */
export function compileActions(actions: ThinkActions, host: ActionHost, requestId: () => string): ToolSet {
  const owners = new Map<string, string>();
  const tools: ToolSet = {};
  for (const [key, action] of Object.entries(actions)) {
    const name = action.name ?? key;
    const owner = owners.get(name);
    if (owner !== undefined) {
      throw new ConfigurationError(
        "action-name-twice",
        `Two actions of getActions() have the name "${name}": ${owner} and ${key}. Rename one of them.`,
      );
    }
    if (action.kind === undefined) {
      throw new ConfigurationError(
        "action-not-made",
        `"${key}" of getActions() is a plain object. Make it with action() of "switchboard": ${key}: action({ ... }).`,
      );
    }
    owners.set(name, key);
    tools[name] = compileAction(name, action, host, requestId);
  }
  return tools;
}

/** Returns the model's tool for one action. */
export function compileAction(
  name: string,
  action: Action,
  host: ActionHost,
  requestId: () => string,
): ToolSet[string] {
  const compiled = tool({
    description: joined(action),
    // The call itself validates the input. A schema that changes its input must do that once.
    inputSchema: jsonSchema(() => asSchema(action.inputSchema).jsonSchema),
    execute: async (input: unknown, { toolCallId, messages, abortSignal }) =>
      runAction(host, {
        name,
        action,
        input,
        requestId: requestId(),
        toolCallId,
        messages,
        signal: abortSignal,
      }),
  });
  // The ledger decides whether an interrupted call runs again.
  const runs = { recovery: "rerun" };
  const { noted } = host;
  const { toModelOutput } = action;
  return Object.assign(compiled, runs, {
    ...(isPlainRead(action) && { annotations: { readOnly: true, mayRepeatResult: true } }),
    ...(toModelOutput && { toModelOutput: ({ output }: { output: unknown }) => toModelOutput(output) }),
    ...(noted !== undefined && {
      fillInput: async (input: unknown, calls: () => Promise<readonly unknown[]>) =>
        filledInput(input, { calls, noted, onInvalid: () => host.onInvalidInput(name) }),
    }),
  });
}

interface FillOptions {
  readonly calls: () => Promise<readonly unknown[]>;
  readonly noted: Pick<LocalStates, "notes">;
  readonly onInvalid: () => void;
}

/** Fills the templates of an input. One that names nothing is answered, and nothing runs. */
async function filledInput(
  given: unknown,
  { calls, noted, onInvalid }: FillOptions,
): Promise<{ readonly input: unknown } | { readonly output: ActionFailure }> {
  const names = ["calls", "shortTermMemory"];
  if (!hasTemplates(given, names)) return { input: given };
  const values = { calls: await calls(), shortTermMemory: noted.notes() };
  const { input, problems } = fillTemplates(given, values);
  if (problems.length === 0) return { input };
  onInvalid();
  return { output: invalidInput(problems.map(({ message }) => message).join("; "), problems) };
}

function joined({ description, instructions }: Action): string {
  return instructions === undefined ? description : `${description}\n\n${instructions}`;
}

/**
 * Joins a bot's tools and actions.
 *
 * @throws {ConfigurationError} `tool-name-twice` if an action has the name of a tool
 */
export function joinTools(tools: ToolSet, actions: ToolSet): ToolSet {
  const twice = Object.keys(actions).find((name) => name in tools);
  if (twice !== undefined) {
    throw new ConfigurationError(
      "tool-name-twice",
      `getTools() and getActions() both have "${twice}". Rename the tool or the action.`,
    );
  }
  return { ...tools, ...actions };
}
