import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { commandsPage } from "../../../cli/commands-page.ts";
import { processIo } from "../../../cli/command-io.ts";
import { createProgram } from "../../../cli/program.ts";

const page = commandsPage(await createProgram(processIo()));

describe("the page of the commands", () => {
  it("is as the commands say; otherwise run `npm run reference`", () => {
    const file = path.resolve(import.meta.dirname, "../../../docs/reference/commands.md");
    expect(readFileSync(file, "utf8")).toBe(page);
  });

  it("has every command with its arguments, options, defaults and choices", () => {
    expect(page).toContain("## `switchboard init [folder]`");
    expect(page).toContain("## `switchboard data restore <folder>`");
    expect(page).toContain(
      "| `-p, --port <port>` | `8080` | port of the page; if it is taken, the next free one |",
    );
    expect(page).toMatch(/--template <name>` \|  \| .*: `minimal`, `tools`, `group-helper` \|/);
    expect(page).not.toContain("--help, ");
  });
});
