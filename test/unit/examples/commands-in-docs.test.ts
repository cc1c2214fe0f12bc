import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../cli/program.ts";
import { COMMAND_PAGES, readPage, wordsOf } from "../../support/doc-pages.ts";

const root = path.resolve(import.meta.dirname, "../../..");
/** Scripts of a bot that `switchboard init` has made. */
const SCRIPTS_OF_A_BOT = ["dev", "dev:telegram", "serve", "test", "types", "doctor", "deploy"];

/** Returns the command lines of a page: those of its shell examples, and those in running text. */
function commandLines(page: string): readonly string[] {
  const text = readPage(page);
  const examples = [...text.matchAll(/```(?:sh)?\n([\s\S]*?)```/g)].flatMap(([, code = ""]) =>
    code.split(/\n|&&|;/),
  );
  const inText = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  return [...examples, ...inText].map((line) =>
    line
      .replace(/\s#.*$/, "")
      .trim()
      .replace(/^(?:[A-Z_]+=\S*\s+)+/, ""),
  );
}

/** Makes a program whose commands only read their parameters. */
async function readingProgram(): Promise<Command> {
  const quiet = { write: () => undefined, writeError: () => undefined };
  const program = await createProgram({ folder: "/", environment: {}, isInteractive: false, ...quiet });
  const silence = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => undefined);
    for (const child of command.commands) silence(child);
  };
  silence(program);
  return program;
}

async function complaint(words: readonly string[]): Promise<string | undefined> {
  try {
    const program = await readingProgram();
    await program.parseAsync([...words], { from: "user" });
    return undefined;
  } catch (error) {
    const { exitCode, message } = error as { readonly exitCode?: number; readonly message: string };
    return exitCode === 0 ? undefined : message;
  }
}

const LINES = COMMAND_PAGES.flatMap((page) => commandLines(page).map((line) => ({ page, line })));

describe("a command in the documentation", () => {
  it("is understood by switchboard", async () => {
    const ours = LINES.flatMap(({ line, page }) => {
      const words = /^(?:npx switchboard|npm run switchboard --)\s+(.+)$/.exec(line)?.[1];
      return words === undefined ? [] : [{ page, line, words: wordsOf(words) }];
    });
    expect(ours.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const { line, page, words } of ours) {
      const about = words.at(-1) === "..." || words[0] === "<command>" ? undefined : await complaint(words);
      if (about !== undefined) wrong.push(`${page}: ${line}: ${about}`);
    }
    expect(wrong).toEqual([]);
  });

  it("is a script of the project or of a new bot", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const named = LINES.flatMap(({ line, page }) => {
      const script = /^npm run (?:-s )?([\w:-]+)/.exec(line)?.[1];
      return script === undefined ? [] : [{ page, script }];
    });
    expect(named.length).toBeGreaterThan(15);
    const known = new Set([...Object.keys(scripts), ...SCRIPTS_OF_A_BOT]);
    expect(named.filter(({ script }) => !known.has(script))).toEqual([]);
  });

  it("names test files and folders that exist", () => {
    const named = LINES.flatMap(({ line, page }) =>
      line.startsWith("npx vitest run")
        ? wordsOf(line)
            .filter((word) => word.startsWith("test/"))
            .map((file) => ({ page, file }))
        : [],
    );
    expect(named.filter(({ file }) => !existsSync(path.join(root, file)))).toEqual([]);
  });
});

describe("the check of commands", () => {
  it("notices a command and an option that do not exist, and a missing parameter", async () => {
    expect(await complaint(["serv"])).toContain("unknown command");
    expect(await complaint(["serve", "--prot", "1"])).toContain("unknown option");
    expect(await complaint(["data", "restore"])).toContain("missing required argument");
    expect(await complaint(["init", "tea", "--template", "tee"])).toContain("Allowed choices");
    expect(await complaint(["serve", "--help"])).toBeUndefined();
  });
});
