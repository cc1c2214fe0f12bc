import type { FlexibleSchema } from "ai";
import type { ActionOptions, ApproverRole } from "../actions/declare/action.ts";
import type { SandboxLimits } from "../sandbox/sandbox-limits.ts";

/** An extension, as `getExtensions` returns it. */
export interface ExtensionConfig {
  /** Its name, its hooks, and the parts that it reaches. */
  readonly manifest: ExtensionManifest;
  /**
   * JavaScript whose last expression is an object of `tools` and `hooks`. It has no imports and exports. `parameters` of a
   * tool are JSON Schemas by name; their descriptions are the labels on the card that asks about a call.
   *
   * @example ({ tools: { add: { description: "Adds", parameters: { a: { type: "number" } }, execute: async ({ a }) => a + 1 } } })
   */
  readonly source: string;
}

/** Says what an extension is, and what it may do. */
export interface ExtensionManifest {
  /** 1 to 24 letters, digits and `-`. The tools of `notes` are `ext_notes_<tool>` for the model. */
  readonly name: string;
  /** Such as `1.0.0`. */
  readonly version: string;
  readonly description?: string;
  /** The parts that its code reaches. @default nothing */
  readonly permissions?: ExtensionPermissions;
  /**
   * Blocks of the system prompt that it writes with `host.setContext`, under `<name>_<label>`. The model can write them,
   * too. Needs `static memory`.
   *
   * @default none
   */
  readonly context?: readonly ExtensionContext[];
  /** The hooks that it has. @default none */
  readonly hooks?: readonly ExtensionHook[];
}

/** What the code of an extension reaches. Its tools ask people before they use it: see `ExtensionRules`. */
export interface ExtensionPermissions {
  /** Public hosts that its tools may call by https, such as `api.example.com` or `*.example.com`. @default none */
  readonly network?: readonly string[] | false;
  /** The files of the conversation. Needs `static workspace`. @default "none" */
  readonly workspace?: "read" | "read-write" | "none";
}

export interface ExtensionContext {
  readonly label: string;
  readonly description?: string;
  /** How it can be used. @default "writable", the only one */
  readonly type?: "writable";
  /** Most tokens of the block. @default 1000 */
  readonly maxTokens?: number;
}

export const EXTENSION_HOOKS = [
  "beforeTurn",
  "beforeToolCall",
  "afterToolCall",
  "onStepFinish",
  "onChunk",
] as const;

/** A hook that an extension can have. */
export type ExtensionHook = (typeof EXTENSION_HOOKS)[number];

/** Options of `extensions`. */
export interface ExtensionsOptions {
  /** Rules for extensions, by their names. @default those of `ExtensionRules` */
  readonly rules?: Readonly<Record<string, ExtensionRules>>;
  /** Most that one call of a tool may take. Hooks have less. @default those of the sandbox, with 200000 for `outputBytes` */
  readonly limits?: SandboxLimits;
}

/**
 * Rules for the calls of an extension's tools. They are those of an action: also `permissions`, `requesterMayApprove`,
 * `askIn`, `expiresAfterMs` and `timeoutMs`.
 */
export interface ExtensionCallRules extends Pick<
  ActionOptions<FlexibleSchema, unknown>,
  "permissions" | "requesterMayApprove" | "askIn" | "expiresAfterMs" | "timeoutMs"
> {
  /**
   * Whether people are asked before a call.
   *
   * @default true for extensions with `network`, `workspace: "read-write"` or `context`; all others change nothing
   */
  readonly approval?: boolean | ((call: ExtensionCall) => boolean | Promise<boolean>);
  /** The people who may decide: see `ActionOptions.approvers`. @default those of an action */
  readonly approvers?: "requester" | "anyone" | readonly (string | number)[] | ApproverRole;
  /** Whether people may agree to further calls at once: see `ActionOptions.grantable`. @default no */
  readonly grantable?: true;
}

/** Rules for one extension. */
export interface ExtensionRules extends ExtensionCallRules {
  /** Rules for single tools, by their names in the extension. They win. @default none */
  readonly tools?: Readonly<Record<string, ExtensionCallRules>>;
}

/** One call, as a function `approval` gets it. */
export interface ExtensionCall {
  /** The name in the extension. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A loaded extension. */
export interface ExtensionInfo {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** The names of its tools, as the model has them. */
  readonly tools: readonly string[];
  /** Labels of its blocks of the prompt. */
  readonly contextLabels: readonly string[];
  readonly permissions: ExtensionPermissions;
}
