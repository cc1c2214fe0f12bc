import { extensions } from "../../../src/extensions/index.ts";
import type { ExtensionConfig, ExtensionManifest, ExtensionsOptions } from "../../../src/extensions/index.ts";
import { memory } from "../../../src/memory/index.ts";
import { workspace } from "../../../src/workspace/index.ts";
import { callTool, say } from "./scripted-model.ts";
import type { ModelScript } from "./scripted-model.ts";
import { ScriptedBot } from "../worker.ts";

type Bot = typeof ScriptedBot.prototype;

/** Gives the bot's class extensions, files and memory. */
export function useExtensions(declared: readonly ExtensionConfig[], options: ExtensionsOptions = {}): void {
  ScriptedBot.workspace = workspace();
  ScriptedBot.memory = memory();
  ScriptedBot.extensions = extensions(options);
  ScriptedBot.prototype.getExtensions = () => declared;
}

export function endExtensions(): void {
  ScriptedBot.workspace = undefined;
  ScriptedBot.memory = undefined;
  ScriptedBot.extensions = undefined;
  delete (ScriptedBot.prototype as Partial<Pick<Bot, "getExtensions">>).getExtensions;
}

/** An extension whose one tool has this body: a function of `input` and `host`. */
export function extension(
  execute: string,
  manifest: Partial<ExtensionManifest> = {},
  hooks = "",
): ExtensionConfig {
  return {
    manifest: { name: "notes", version: "1.0.0", ...manifest },
    source: `({
      tools: { go: { description: "Goes.", parameters: { a: { type: "number" } }, execute: ${execute} } },
      hooks: { ${hooks} },
    });`,
  };
}

/** Calls a tool once, and says what came of it. */
export function calls(tool: string, input: unknown = {}): ModelScript {
  return ({ prompt }) => {
    const last = prompt.at(-1);
    return last?.role === "tool"
      ? [say(`got ${JSON.stringify(last.content.map((one) => "output" in one && one.output))}`)]
      : [callTool(tool, input)];
  };
}
