import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(path.join(root, folder, file), "utf8"));
}

describe("the list of log events", () => {
  it("has each event that the product logs, and no other", () => {
    const logged = ["src", "delivery", "providers", "scripts/serve/log"]
      .flatMap(sources)
      .flatMap((text) => [
        ...text.matchAll(/(?:\blog\.(?:info|warn|error)\(|#write\(\s*(?:level|"\w+"),)\s*"([^"]+)"/g),
      ])
      .map(([, event]) => event);
    const page = readFileSync(path.join(root, "docs/configuration.md"), "utf8");
    const rows = (page.split("## The log")[1] ?? "").split("\n").filter((line) => line.startsWith("| `"));
    const listed = rows
      .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)])
      .map(([, event]) => event);
    expect(new Set(logged).size).toBeGreaterThan(20);
    expect(new Set(listed)).toEqual(new Set(logged));
  });
});
