import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/** Runs a module in a process of its own, because the hooks of Node hold for all of one. */
function run(source: string): { readonly status: number | null; readonly said: string } {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    cwd: root,
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
}

const imports = `await import("cloudflare:workers"); await import("./src/sandbox/quickjs.wasm");`;

describe("a bot's module in Node", () => {
  it("is imported with modules of workerd, and with files that only a bundler reads", () => {
    expect(run(`await import("./testing/cloudflare-modules.ts"); ${imports}`)).toEqual({
      status: 0,
      said: "",
    });
  });

  it("cannot be imported without the hooks", () => {
    expect(run(imports).status).not.toBe(0);
  });
});
