import { build } from "esbuild";

/** Where `modelFromEnv` of the bot looks for a demo model. */
const HOOK = "switchboard.demo-model";

/**
 * Returns a script that puts the demo model beside a bot's code, in the same process.
 *
 * @param options.canCall whether people may run the bot's tools by hand (`/call`)
 */
export async function demoScript(options: { readonly canCall: boolean }): Promise<string> {
  const contents = `
    import { createDemoModel } from "./demo-model";
    Reflect.set(globalThis, Symbol.for("${HOOK}"), createDemoModel(${JSON.stringify(options)}));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "iife",
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}
