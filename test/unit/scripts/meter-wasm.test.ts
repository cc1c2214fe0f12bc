import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { meterWasm } from "../../../scripts/sandbox/meter-wasm.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const source = path.join(
  root,
  "node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm",
);

describe("meterWasm", () => {
  it("has made the engine that the package ships", async () => {
    const shipped = await readFile(path.join(root, "src/sandbox/quickjs.wasm"));
    expect(Buffer.compare(shipped, meterWasm(await readFile(source)))).toBe(0);
  });

  it("refuses what it cannot read", () => {
    expect(() => meterWasm(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))).toThrow(/no section/);
  });
});
