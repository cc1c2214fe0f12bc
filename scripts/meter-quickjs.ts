/** `npm run meter`: writes `src/sandbox/quickjs.wasm`, QuickJS with a meter (`scripts/sandbox/meter-wasm.ts`). */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { root } from "./run-step.ts";
import { meterWasm } from "./sandbox/meter-wasm.ts";

const source = path.join(
  root,
  "node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm",
);
await writeFile(path.join(root, "src/sandbox/quickjs.wasm"), meterWasm(await readFile(source)));
