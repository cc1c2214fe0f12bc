import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** All pages whose commands people type, from the root. */
export const COMMAND_PAGES: readonly string[] = [
  "README.md",
  "AGENTS.md",
  "templates/shared/README.md",
  "templates/shared/AGENTS.md",
  "playground/telegram/README.md",
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => path.join("docs", file)),
];

export function readPage(page: string): string {
  return readFileSync(path.join(root, page), "utf8");
}

/** Returns the shell examples of a page. */
export function shellExamples(page: string): readonly string[] {
  return [...readPage(page).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
}

/** Returns the code in the running text of a page, such as a command. A line break in it counts as a space. */
export function codeInText(page: string): readonly string[] {
  const text = readPage(page).replaceAll(/```[\s\S]*?```/g, "");
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " "));
}

/** Returns the TypeScript examples of a page. */
export function codeExamples(page: string): readonly string[] {
  return [...readPage(page).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
}

/** Returns the words of a command line. Quotes hold words together. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? word);
}
