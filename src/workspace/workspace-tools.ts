import { tool } from "ai";
import type { ToolSet } from "ai";
import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import { systemDeps } from "../core/base/deps.ts";
import type { Clock } from "../core/base/deps.ts";
import { InvalidInputError, SwitchboardError } from "../core/base/errors.ts";
import { toBase64 } from "../core/bytes/base64.ts";
import type { BashTool, ShellResult, ShellRun } from "./bash-tool.ts";
import { isAmong } from "./file-format.ts";
import { FILE_TOOLS, isShownFile } from "./file-tools.ts";
import type { ReadOperations, WriteOperations } from "./operations.ts";

/** Options of `createWorkspaceTools`. */
export interface WorkspaceToolsOptions {
  /** A shell: `bash()` of `switchboard/workspace/bash`. @default false */
  readonly bash?: BashTool | false;
  /** See `WorkspaceOptions.media`. @default ["image/*", "application/pdf"] */
  readonly media?: readonly string[];
}

export const DEFAULT_MEDIA: readonly string[] = ["image/*", "application/pdf"];
/** Largest picture or PDF that a model is shown, in bytes. */
const MOST_SHOWN = 5 * 1024 * 1024;

export const bashInput = z.object({ script: z.string().min(1).max(64_000) });
export const BASH_DESCRIPTION =
  "Run a script of bash on the files: grep, sed, awk, jq, sort and the like. There is no network and no other program. Changes to files are kept if the script ends in time.";

/**
 * Makes the tools of a workspace for files that are kept elsewhere. The result of `read` shows pictures and PDFs to the
 * model.
 *
 * @example getTools() { return createWorkspaceTools(new TeamFolder(this.env.FOLDER)); }
 */
export function createWorkspaceTools(
  files: ReadOperations & WriteOperations,
  { bash = false, media = DEFAULT_MEDIA }: WorkspaceToolsOptions = {},
): ToolSet {
  const tools: ToolSet = {};
  for (const [name, fileTool] of Object.entries(FILE_TOOLS)) {
    const { description, inputSchema, isRead } = fileTool;
    const made = tool({
      description,
      inputSchema: inputSchema as z.ZodType,
      // The schema of the tool has checked its input.
      execute: (input: unknown): Promise<Json> => inWords(() => fileTool.run(files, input as never)),
      toModelOutput: ({ output }) => shownOutput(output, { files, media }),
    });
    tools[name] = Object.assign(made, { annotations: { readOnly: isRead } });
  }
  if (bash !== false)
    tools["bash"] = tool({
      description: BASH_DESCRIPTION,
      inputSchema: bashInput,
      execute: ({ script }, { abortSignal }) =>
        inWords(async () => {
          const ended = await runShell(bash, files, { script, signal: abortSignal, clock: systemDeps.clock });
          for (const { content, path } of ended.changes)
            await (content === undefined ? files.deleteFiles(path) : files.writeFile(path, content));
          return shellOutput(ended);
        }),
    });
  return tools;
}

/** Runs a script on the files as they are now. Changes nothing: `changes` of the result has what should be changed. */
export async function runShell(
  bash: BashTool,
  files: ReadOperations,
  run: { readonly script: string; readonly clock: Clock; readonly signal: ShellRun["signal"] },
): Promise<ShellResult> {
  const listed = await files.listFiles();
  return bash.run({
    ...run,
    files: listed.map(({ path, sizeBytes }) => ({ path, sizeBytes, read: () => files.readFile(path) })),
  });
}

export function shellOutput({ changes, exitCode, stderr, stdout }: ShellResult): Json {
  return { exitCode, stdout, ...(stderr !== "" && { stderr }), changed: changes.map(({ path }) => path) };
}

interface Shown {
  readonly files: Pick<ReadOperations, "stat" | "readFile">;
  readonly media: readonly string[];
  /** Whether it was read in an earlier turn. @default false */
  readonly isOld?: boolean;
}

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]["toModelOutput"]>>>;

/** Returns the result of a tool as the model reads it: with the file itself, if it is one that the model can see. */
export async function shownOutput(
  output: unknown,
  { files, isOld = false, media }: Shown,
): Promise<ModelOutput> {
  if (typeof output === "string") return { type: "text", value: output };
  if (!isShownFile(output)) return { type: "json", value: output as never };
  const { hash, mediaType, path, sizeBytes } = output;
  const words = (text: string): ModelOutput => ({
    type: "text",
    value: `${path} (${mediaType}, ${sizeBytes} bytes): ${text}`,
  });
  if (!isAmong(mediaType, media)) return words("files of this type cannot be shown to you.");
  if (isOld) return words("you have seen it in an earlier turn. Read it again to see it.");
  if (sizeBytes > MOST_SHOWN) return words(`it has ${sizeBytes} bytes, which is too large to look at.`);
  try {
    if ((await files.stat(path))?.hash !== hash)
      return words("it has changed since. Read it again to see it.");
    const data = toBase64(await files.readFile(path));
    return {
      type: "content",
      value: [
        { type: "text", text: `${path} (${mediaType})` },
        { type: "file", mediaType, data: { type: "data", data } },
      ],
    };
  } catch {
    // The file is gone, or its bytes cannot be read now.
    return words("it cannot be shown any more.");
  }
}

/** The words of an error that a model may read: those about files. */
export function wordsOf(error: unknown): string | undefined {
  const isOurs = error instanceof SwitchboardError || error instanceof InvalidInputError;
  return isOurs && error.code.startsWith("workspace-") ? error.message : undefined;
}

async function inWords(work: () => Promise<Json>): Promise<Json> {
  try {
    return await work();
  } catch (error) {
    const message = wordsOf(error);
    if (message === undefined) throw error;
    return { error: { name: "WorkspaceError", message } };
  }
}
