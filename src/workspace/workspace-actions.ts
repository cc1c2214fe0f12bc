import { z } from "zod";
import type { ActionContext } from "../actions/declare/action-context.ts";
import type { Action, ActionVerdict, ThinkActions } from "../actions/declare/action.ts";
import { ActionError } from "../actions/declare/action-errors.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import type { Json } from "../core/message/content.ts";
import type { Clock } from "../core/base/deps.ts";
import { getTurn } from "../core/turn/turn-context.ts";
import type { BashTool } from "./bash-tool.ts";
import type { CommitOptions, ConversationWorkspace } from "./conversation-workspace.ts";
import { FILE_TOOLS, isShownFile } from "./file-tools.ts";
import type { FileTool } from "./file-tools.ts";
import type { WorkspaceToolName } from "./workspace-options.ts";
import {
  BASH_DESCRIPTION,
  bashInput,
  runShell,
  shellOutput,
  shownOutput,
  wordsOf,
} from "./workspace-tools.ts";

export interface WorkspaceActionsOptions {
  readonly workspace: ConversationWorkspace;
  readonly clock: Clock;
  readonly media: readonly string[];
  /** Undefined: all. */
  readonly tools: readonly WorkspaceToolName[] | undefined;
  readonly bash: BashTool | undefined;
}

const sendInput = z.object({
  path: z.string().max(1024).describe("Absolute path, such as /reports/june.pdf"),
  caption: z.string().max(900).optional().describe("A line below the file"),
});

/**
 * The model's tools for the files of its conversation. Those that change files are runs of the ledger, and each change is
 * stored with the mark of its call: an interrupted call finds it and is not repeated.
 */
export function workspaceActions(options: WorkspaceActionsOptions): ThinkActions {
  const { bash, tools } = options;
  const all: Record<string, Action> = {
    ...Object.fromEntries(
      Object.entries(FILE_TOOLS).map(([name, tool]) => [name, fileAction(tool, options)]),
    ),
    send_file: sendAction(options.workspace),
    ...(bash !== undefined && { bash: bashAction(bash, options) }),
  };
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => tools === undefined || tools.some((one) => one === name)),
  );
}

function fileAction(tool: FileTool, { media, workspace }: WorkspaceActionsOptions): Action {
  const { description, inputSchema, isRead } = tool;
  const action = defineAction<typeof inputSchema, unknown, ActionContext>({
    description,
    inputSchema,
    ...(isRead ? { annotations: { readOnly: true } } : { verify: ({ ctx }) => verdict(workspace, ctx) }),
    execute: async (input, ctx) =>
      inWords(async () => {
        const output: unknown = await tool.run(
          isRead ? workspace : workspace.withDefaults(changeOf(ctx)),
          input as never,
        );
        return isShownFile(output) ? { ...output, turn: ctx.requestId } : output;
      }),
  });
  if (!isRead) return action;
  return {
    ...action,
    // A picture is shown in the turn that has read it. Later calls would carry all of them.
    toModelOutput: (output) =>
      shownOutput(output, { files: workspace, media, isOld: isOfEarlierTurn(output) }),
  };
}

function isOfEarlierTurn(output: unknown): boolean {
  const turn = getTurn();
  return turn !== undefined && isShownFile(output) && "turn" in output && output.turn !== turn.id;
}

function bashAction(bash: BashTool, { clock, workspace }: WorkspaceActionsOptions): Action {
  return defineAction<typeof bashInput, Json, ActionContext>({
    description: BASH_DESCRIPTION,
    inputSchema: bashInput,
    verify: ({ ctx }) => verdict(workspace, ctx),
    execute: async ({ script }, ctx) =>
      inWords(async () => {
        const versions = new Map(workspace.listFiles().map(({ path }) => [path, workspace.versionOf(path)]));
        const ended = await runShell(bash, workspace, { script, signal: ctx.signal, clock });
        const changes = ended.changes.map((change) => ({
          ...change,
          expected: versions.get(change.path) ?? null,
        }));
        if (changes.length > 0) await workspace.commit(changes, changeOf(ctx));
        return shellOutput(ended);
      }),
  });
}

function sendAction(workspace: ConversationWorkspace): Action {
  return defineAction<typeof sendInput, Json, ActionContext>({
    description: "Send a file to the chat. It follows your answer. Pictures are shown as such.",
    inputSchema: sendInput,
    // A file is sent only if the run has ended: its attachment counts with its result.
    verify: () => ({ done: false }),
    execute: async ({ caption, path }, ctx) =>
      inWords(async () => {
        const file = await workspace.attachment(path, caption === undefined ? {} : { caption });
        ctx.attachReply(file);
        return { sent: file.name ?? path };
      }),
  });
}

function verdict(workspace: ConversationWorkspace, ctx: CallOf): ActionVerdict {
  const output = workspace.outputOf(keyOf(ctx));
  return output === undefined ? { done: false } : { done: true, output };
}

type CallOf = Pick<ActionContext, "requestId" | "toolCallId">;

function keyOf({ requestId, toolCallId }: CallOf): string {
  return `${requestId}:${toolCallId}`;
}

function changeOf(ctx: Pick<ActionContext, "person"> & CallOf): CommitOptions {
  const { person } = ctx;
  return {
    call: keyOf(ctx),
    ...(person !== undefined && {
      person: { userId: person.userId, name: person.fullName || person.userName || person.userId },
    }),
  };
}

/** The model reads why a call has failed, if that is about files. */
async function inWords<Output>(work: () => Promise<Output>): Promise<Output> {
  try {
    return await work();
  } catch (error) {
    const words = wordsOf(error);
    throw words === undefined ? error : new ActionError(words);
  }
}
