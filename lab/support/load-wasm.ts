import { registerHooks } from "node:module";

/** Lets Node import files of WebAssembly as modules that are not instantiated, as bundlers and workerd do. */
registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith(".wasm")) return nextLoad(url, context);
    const source = `import { readFileSync } from "node:fs";
export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})));`;
    return { format: "module", shortCircuit: true, source };
  },
});
