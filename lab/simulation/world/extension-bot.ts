import type { AgentMethods } from "../../../src/agent/agent-methods.ts";
import type { AnyFeature } from "../../../src/agent/features.ts";
import type { BotObject } from "../../../src/agent/bot-object.ts";
import { wait } from "../../../src/core/base/deps.ts";
import { ExtensionsFeature } from "../../../src/extensions/extensions-feature.ts";
import type { ExtensionFiles } from "../../../src/extensions/extension-host.ts";
import type { ExtensionConfig, ExtensionHook, ExtensionRules } from "../../../src/extensions/index.ts";
import { workspace } from "../../../src/workspace/index.ts";
import type { WorkspaceFeature } from "../../../src/workspace/workspace-feature.ts";
import type { Life } from "../machine/life.ts";
import type { Proposal } from "../oracle/approval-watch.ts";
import { EFFECTS } from "../oracle/extension-watch.ts";
import type { ExtensionWatch } from "../oracle/extension-watch.ts";
import type { ExtensionItem, HookManner } from "../plan/extension-items.ts";
import type { PlanItem } from "../plan/plan.ts";
import { realExecutor } from "./code-bot.ts";
import { createPlainExecutor } from "./plain-executor.ts";

/** Time in which a file is read. Another run may change it meanwhile. */
const READ_MS = 40;

export function plannedExtensions(items: readonly PlanItem[]): ExtensionItem[] {
  return items.filter((item): item is ExtensionItem => item.kind === "extension");
}

/** The extension that is planned for a message has its token as its name. */
export function extensionTool(token: string): string {
  return `ext_${token}_act`;
}

/** The features of a bot with extensions. Other bots have none of them. */
export function extensionFeatures(items: readonly PlanItem[]): readonly AnyFeature[] {
  const [first] = plannedExtensions(items);
  if (first === undefined) return [];
  const rules = Object.fromEntries(
    items.filter((item) => item.kind === "proposal").map((item) => [item.token, rulesOf(item)]),
  );
  const create: AnyFeature["create"] = (host) =>
    new ExtensionsFeature(host, { rules }, (limits) =>
      first.sandbox === "quickjs" ? realExecutor(host.deps.clock, limits) : createPlainExecutor(),
    );
  return [workspace().kind, { name: "extensions", create }];
}

function rulesOf({ approvers, expiresAfterMs }: Proposal): ExtensionRules {
  if (approvers === "nobody") return { approval: false };
  return { approvers: approvers === "ada" ? ["7"] : "anyone", askIn: "here", expiresAfterMs };
}

/** Gives the class of a bot its extensions, in a process. */
export function withExtensions(
  methods: AgentMethods,
  items: readonly PlanItem[],
  {
    life,
    object,
    watch,
  }: { readonly life: Life; readonly object: () => BotObject; readonly watch: ExtensionWatch },
): AgentMethods {
  const planned = plannedExtensions(items);
  if (planned.length === 0) return methods;
  const files = (): ExtensionFiles => watchedFiles(filesOf(object()), { life, watch });
  const members = {
    // A class that may grant files has this static member.
    constructor: { workspace: true },
    getExtensions: (): ExtensionConfig[] => planned.map(extensionOf),
  };
  return Object.defineProperty(Object.assign(methods, members), "workspace", { get: files });
}

/** The files of a conversation. */
export function filesOf({ features }: Pick<BotObject, "features">): ExtensionFiles {
  return features.imported<WorkspaceFeature>("workspace").workspace;
}

function extensionOf({ hooks, token }: ExtensionItem): ExtensionConfig {
  const named = Object.entries(hooks) as [ExtensionHook, HookManner][];
  const bodies = named.map(([hook, manner]) => `${hook}: ${bodyOf(hook, manner)}`);
  return {
    manifest: {
      name: token,
      version: "1.0.0",
      permissions: { workspace: "read-write" },
      hooks: named.map(([hook]) => hook),
    },
    source: `({
      tools: {
        act: {
          description: "Acts.",
          parameters: { effect: { type: "string" }, say: { type: "string" } },
          required: ["effect", "say"],
          execute: async ({ effect }, host) => {
            const before = (await host.readFile("${EFFECTS}")) ?? "";
            await host.writeFile("${EFFECTS}", before + effect + "\\n");
            return { done: effect };
          },
        },
      },
      hooks: { ${bodies.join(", ")} },
    })`,
  };
}

/** Words that `beforeTurn` of a hook adds to the prompt. */
export const HOOK_WORD = "hooked";

function bodyOf(hook: ExtensionHook, manner: HookManner): string {
  switch (manner) {
    case "throws":
      return "() => { throw new Error('It fails.'); }";
    case "loops":
      return "() => { for (;;); }";
    case "hangs":
      return "() => new Promise(() => {})";
    case "copies":
      return `async (_, host) => {
        const before = await host.readFile("${EFFECTS}");
        if (before !== null) await host.writeFile("${EFFECTS}", before);
      }`;
    case "works":
      return hook === "beforeTurn"
        ? `({ system }) => ({ system: system + " ${HOOK_WORD}" })`
        : `(snapshot, host) => host.writeFile("/seen.json", JSON.stringify(snapshot))`;
    default:
      return manner satisfies never;
  }
}

/** Reads take a while, and each change has boundaries around it. */
function watchedFiles(
  files: ExtensionFiles,
  { life, watch }: { readonly life: Life; readonly watch: ExtensionWatch },
): ExtensionFiles {
  const read = async (): Promise<string> => {
    if (files.stat(EFFECTS) === undefined) return "";
    return new TextDecoder().decode(await files.readFile(EFFECTS));
  };
  return {
    stat: (path) => files.stat(path),
    listFiles: (folder) => files.listFiles(folder),
    readFile: async (path) => {
      const bytes = await files.readFile(path);
      await wait(life.clock, READ_MS);
      return bytes;
    },
    changeFiles: async (changes) => {
      const next = changes[EFFECTS];
      if (typeof next !== "string") return files.changeFiles(changes);
      const before = await read();
      watch.shows(before, life);
      watch.changes(before, next);
      life.boundary("before effect");
      await files.changeFiles(changes);
      watch.shows(await read(), life);
      life.boundary("after effect");
    },
  };
}
