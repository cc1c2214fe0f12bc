import type { FlexibleSchema, InferSchema } from "ai";
import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import { insideOf, parsePath } from "./file-path.ts";
import { textIn } from "./file-format.ts";
import { fitsGlob } from "../core/text/glob.ts";
import type { FileStat, ReadOperations, WriteOperations } from "./operations.ts";

/** A tool for files, as a model sees it. */
export interface FileTool<Schema extends FlexibleSchema = FlexibleSchema> {
  readonly description: string;
  readonly inputSchema: Schema;
  readonly isRead: boolean;
  run(files: ReadOperations & WriteOperations, input: InferSchema<Schema>): Promise<Json>;
}

/** A picture or a PDF that `read` shows to the model itself. Its bytes are not in the transcript. */
export interface ShownFile {
  readonly path: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly hash: string;
}

const MOST_LINES = 2000;
const MOST_ENTRIES = 300;
const MOST_MATCHES = 100;
/** Most characters that an edit makes. */
const LONGEST_TEXT = 32 * 1024 * 1024;
/** Most bytes that one search reads. */
const MOST_SEARCHED = 8 * 1024 * 1024;

const path = z.string().max(1024).describe("Absolute path, such as /notes/plan.md");
const folder = z.string().max(1024).default("/").describe("Absolute path of a folder. Default: all files");
const pattern = z.string().min(1).max(256);

export const FILE_TOOLS = {
  read: fileTool({
    description:
      "Read a file. A text comes with line numbers, which are not part of it. Pictures and PDFs are shown to you.",
    isRead: true,
    inputSchema: z.object({
      path,
      firstLine: z.number().int().min(1).default(1),
      lines: z.number().int().min(1).max(MOST_LINES).default(MOST_LINES),
    }),
    async run(files, { firstLine, lines, path: at }) {
      const bytes = await files.readFile(at);
      const text = textIn(bytes);
      const stat = await files.stat(at);
      if (text !== undefined && stat?.mediaType !== "application/pdf")
        return numberedLines(text, firstLine, lines);
      const { hash = "", mediaType = "application/octet-stream", path: found = at } = stat ?? {};
      return { path: found, mediaType, sizeBytes: bytes.byteLength, hash };
    },
  }),
  write: fileTool({
    description: "Write a whole text file: a new one, or in place of the one that is there.",
    isRead: false,
    inputSchema: z.object({ path, content: z.string() }),
    async run(files, input) {
      const { path: at, sizeBytes } = await files.writeFile(input.path, input.content);
      return { path: at, sizeBytes };
    },
  }),
  edit: fileTool({
    description:
      "Replace a piece of a text file. The old text must be in the file exactly once, unless all is true.",
    isRead: false,
    inputSchema: z.object({
      path,
      oldText: z.string().min(1),
      newText: z.string(),
      all: z.boolean().default(false).describe("Replace each occurrence"),
    }),
    async run(files, { all, newText, oldText, path: at }) {
      let count = 0;
      const edited = await files.editFile(at, (text) => {
        count = text.split(oldText).length - 1;
        if (count === 0)
          throw refused(
            "The old text is not in the file. Read the file again, and give the text exactly as it is.",
          );
        if (count > 1 && !all)
          throw refused(`The old text is in the file ${count} times. Give more of it, or set all to true.`);
        if (text.length + count * newText.length > LONGEST_TEXT)
          throw refused("The file would be too large.");
        return text.replaceAll(oldText, () => newText);
      });
      return { path: edited.path, replaced: count, sizeBytes: edited.sizeBytes };
    },
  }),
  list: fileTool({
    description: "List the files and folders of one folder.",
    isRead: true,
    inputSchema: z.object({ path: folder }),
    async run(files, input) {
      const at = parsePath(input.path);
      const entries = new Map<string, string>();
      for (const { path: file, sizeBytes } of await files.listFiles(at)) {
        const rest = file.slice(insideOf(at).length);
        const slash = rest.indexOf("/");
        if (slash === -1) entries.set(rest, `${file} (${sizeBytes} bytes)`);
        else entries.set(rest.slice(0, slash), `${insideOf(at)}${rest.slice(0, slash)}/`);
      }
      return listed([...entries.values()], `There are no files in ${at}.`);
    },
  }),
  find: fileTool({
    description: "Find files by a pattern, such as *.csv, /reports/** or **/plan?.md.",
    isRead: true,
    inputSchema: z.object({ pattern }),
    async run(files, input) {
      const found = (await files.listFiles()).filter((file) => fitsGlob(file.path, input.pattern));
      return listed(
        found.map((file) => `${file.path} (${file.sizeBytes} bytes)`),
        "No file fits this pattern.",
      );
    },
  }),
  grep: fileTool({
    description: "Find the lines of text files that have a text. Not a regular expression.",
    isRead: true,
    inputSchema: z.object({
      text: z.string().min(1).max(1000),
      path: folder,
      files: pattern.optional().describe("Only files that fit this pattern, such as *.md"),
      ignoreCase: z.boolean().default(false),
    }),
    async run(files, input) {
      const only = input.files;
      const among = (await filesAt(files, input.path)).filter(
        (file) => only === undefined || fitsGlob(file.path, only),
      );
      const plain = (line: string): string => (input.ignoreCase ? line.toLowerCase() : line);
      const wanted = plain(input.text);
      const matches: string[] = [];
      let searched = 0;
      for (const file of among) {
        searched += file.sizeBytes;
        if (matches.length > MOST_MATCHES || searched > MOST_SEARCHED) break;
        const text = textIn(await files.readFile(file.path));
        if (text === undefined || !plain(text).includes(wanted)) continue;
        for (const [index, line] of text.split("\n").entries())
          if (plain(line).includes(wanted)) matches.push(`${file.path}:${index + 1}: ${clipped(line, 300)}`);
      }
      const rest = searched > MOST_SEARCHED ? ["[Not all files were searched. Name a folder.]"] : [];
      return listed([...matches, ...rest], "No line has this text.", MOST_MATCHES);
    },
  }),
  delete: fileTool({
    description: "Delete a file, or a folder with all of its files.",
    isRead: false,
    inputSchema: z.object({
      path,
      folder: z.boolean().default(false).describe("Whether a whole folder is meant"),
    }),
    async run(files, input) {
      if (!input.folder && (await files.stat(input.path)) === undefined) {
        const inside = await files.listFiles(input.path);
        if (inside.length > 0)
          throw refused(
            `This is a folder with ${inside.length} files. Set folder to true to delete all of them.`,
          );
      }
      const deleted = await files.deleteFiles(input.path);
      return { deleted: deleted.length };
    },
  }),
};

async function filesAt(files: ReadOperations, at: string): Promise<readonly FileStat[]> {
  const file = parsePath(at) === "/" ? undefined : await files.stat(at);
  return file === undefined ? files.listFiles(at) : [file];
}

function listed(lines: readonly string[], nothing: string, most = MOST_ENTRIES): string {
  if (lines.length === 0) return nothing;
  const more = lines.length > most ? [`[${lines.length - most} more. Ask for less at once.]`] : [];
  return [...lines.slice(0, most).map((line) => clipped(line, 700)), ...more].join("\n");
}

function refused(problem: string): SwitchboardError {
  return new SwitchboardError("workspace-refused", `Nothing was changed. ${problem}`);
}

function fileTool<Schema extends FlexibleSchema>(tool: FileTool<Schema>): FileTool<Schema> {
  return tool;
}

/** Whether the result of `read` is a file that is shown to the model itself, if the model takes its type. */
export function isShownFile(output: unknown): output is ShownFile {
  return (
    typeof output === "object" &&
    output !== null &&
    "hash" in output &&
    "mediaType" in output &&
    "path" in output
  );
}

/** Most characters of a line that the model reads. */
const LONGEST_LINE = 2000;
/** Most characters of one reading. The result of a tool has 20,000 at most. */
const LONGEST_READING = 16_000;

/** Returns lines of a text with their numbers, from 1. Says at its end how to read on. */
function numberedLines(text: string, first: number, most: number): string {
  if (text === "") return "[The file is empty.]";
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === "") lines.pop();
  if (first > lines.length) return `[The file has ${lines.length} lines.]`;
  const shown: string[] = [];
  let length = 0;
  for (const line of lines.slice(first - 1, first - 1 + most)) {
    const numbered = `${first + shown.length}\t${clipped(line)}`;
    length += numbered.length + 1;
    if (length > LONGEST_READING) break;
    shown.push(numbered);
  }
  const next = first + shown.length;
  if (next <= lines.length) shown.push(`[${lines.length} lines in all. Read on from line ${next}.]`);
  return shown.join("\n");
}

/** Returns a line as far as a model should read it. */
function clipped(line: string, most = LONGEST_LINE): string {
  return line.length <= most
    ? line
    : `${line.slice(0, most).toWellFormed()} [${line.length - most} more characters]`;
}
