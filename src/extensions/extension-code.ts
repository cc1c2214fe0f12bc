import type { ExtensionApi } from "./extension-api.ts";
import type { ExtensionHook } from "./extension-config.ts";

/** The task of one run of an extension's code. */
export type ExtensionTask =
  | { readonly kind: "describe" }
  | { readonly kind: "tool"; readonly name: string; readonly input: unknown; readonly hasHost: boolean }
  | {
      readonly kind: "hook";
      readonly name: ExtensionHook;
      readonly input: unknown;
      readonly hasHost: boolean;
    };

/** The methods of `host`, as the code of an extension has them. */
const HOST_METHODS = [
  "readFile",
  "writeFile",
  "deleteFile",
  "listFiles",
  "getContext",
  "setContext",
  "fetch",
] as const satisfies readonly (keyof ExtensionApi)[];

const HOST = `const host = { ${HOST_METHODS.map((name) => `${name}: (...given) => bridge.${name}(...given)`).join(", ")} };`;

/** Reads the members that an object has itself: nothing of a prototype is a tool. */
const OWN = `const own = (from, name) => typeof from === "object" && from !== null && Object.hasOwn(from, name) ? from[name] : undefined;`;

const DESCRIBE = `const tools = own(extension, "tools") ?? {};
const hooks = own(extension, "hooks") ?? {};
return {
  tools: Object.keys(tools).map((name) => {
    const tool = own(tools, name);
    return {
      name,
      description: own(tool, "description"),
      parameters: own(tool, "parameters"),
      required: own(tool, "required"),
      runs: typeof own(tool, "execute") === "function",
    };
  }),
  hooks: Object.keys(hooks).filter((name) => typeof own(hooks, name) === "function"),
};`;

/** A source that begins with a brace is an object, and no block. */
const READ = `const read = (source) => {
  try {
    return (0, eval)("(" + source + "\\n)");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return (0, eval)(source);
  }
};`;

/**
 * Returns the code of one run. The value of the source is that of its last expression. Whatever else it does changes only
 * its own run: the other side checks all that comes back.
 */
export function extensionCode(source: string, task: ExtensionTask): string {
  return `async () => {
${OWN}
${READ}
const extension = read(${JSON.stringify(source)});
${bodyOf(task)}
}`;
}

function bodyOf(task: ExtensionTask): string {
  if (task.kind === "describe") return DESCRIBE;
  const { hasHost, input, kind, name } = task;
  const literal = (value: unknown): string => `JSON.parse(${JSON.stringify(JSON.stringify(value ?? null))})`;
  const find = `own(own(extension, "${kind}s"), ${JSON.stringify(name)})`;
  return `${hasHost ? HOST : "const host = null;"}
const found = ${kind === "tool" ? `own(${find}, "execute")` : find};
if (typeof found !== "function") throw new Error("The extension has no such ${kind}.");
return await found(${literal(input)}, host);`;
}
