/** The script of a skill as the sandbox runs it, or the reason why it cannot. */
export type ScriptCode =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "refused"; readonly reason: string };

const LANGUAGES: Readonly<Record<string, string>> = {
  py: "Python",
  sh: "Bash",
  bash: "Bash",
  ts: "TypeScript",
  rb: "Ruby",
  pl: "Perl",
};

/** The context of a script, as `SkillRunContext` has it, over the functions of the host. */
const CONTEXT = `const read = (call) => (...given) => host[call](...given);
const ctx = {
  skill, files,
  workspace: { readFile: read("readFile"), listFiles: read("listFiles"), glob: read("glob"), stat: read("stat"), writeFile: read("writeFile") },
  tools: new Proxy({ call: (name, input) => host.tool(name, input) }, {
    get: (own, name) => name === "call" ? own.call : typeof name === "string" && name !== "then" ? (input) => host.tool(name, input) : undefined,
  }),
  output: { writeFile: read("output") },
};`;

/** Returns the code of one run. A script is a module whose default export is a function of its input and its context. */
export function scriptCode(
  path: string,
  source: string,
  given: { readonly input: unknown; readonly skill: object; readonly files: object },
): ScriptCode {
  const [, extension = ""] = /\.([a-z0-9]+)$/i.exec(path) ?? [];
  const language = LANGUAGES[extension.toLowerCase()];
  if (language !== undefined)
    return refused(`Scripts in ${language} cannot run here, only JavaScript (.js, .mjs).`);
  if (!/^m?js$/i.test(extension))
    return refused("This is no script. Only JavaScript (.js, .mjs) can run here.");
  if (/^\s*import[\s{*"'(]/m.test(source) || /\bimport\s*\(/.test(source))
    return refused("The script imports something, which scripts cannot do here.");
  const body = source
    .replace(/^[ \t]*export\s+default\s+/m, "script.run = ")
    .replaceAll(/^[ \t]*export\s+(?=(?:async|function|class|const|let|var)\b)/gm, "");
  if (body === source || !body.includes("script.run = "))
    return refused("The script has no default export: export default async function run(input, ctx) { … }");
  const literal = (value: unknown): string => `JSON.parse(${JSON.stringify(JSON.stringify(value ?? null))})`;
  const code = `async () => {
const script = {};
const input = ${literal(given.input)}, skill = ${literal(given.skill)}, files = ${literal(given.files)};
${CONTEXT}
{
${body}
}
if (typeof script.run !== "function") throw new Error("The default export is no function.");
return await script.run(input, ctx);
}`;
  return { kind: "code", code };
}

function refused(reason: string): ScriptCode {
  return { kind: "refused", reason };
}
