import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findWorkerd } from "../../../ops/serve/workerd-binary.ts";

describe("workerd", () => {
  it("is found in the package for this system", () => {
    const binary = findWorkerd();
    expect(binary).toMatch(/@cloudflare\/workerd-[\w-]+\/bin\/workerd/);
    expect(existsSync(binary)).toBe(true);
  });

  it("is missed by the name of its package, and said not to exist where there is none", () => {
    expect(() => findWorkerd("win32 arm64")).toThrow(/^@cloudflare\/workerd-windows-64 is not installed/);
    expect(() => findWorkerd("sunos x64")).toThrow(
      /^There is no workerd for sunos x64\. It exists for: darwin arm64/,
    );
  });
});
