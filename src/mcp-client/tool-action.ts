import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ActionContext, OfferContext } from "../actions/declare/action-context.ts";
import type { Action } from "../actions/declare/action.ts";
import { ActionError, outcomeUnknown } from "../actions/declare/action-errors.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import type { Log } from "../core/base/log.ts";
import { objectSchema } from "../core/json/object-schema.ts";
import type { ObjectInput } from "../core/json/object-schema.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { failureReason, NotConnectedError, protocolCode, statusOf, withToken } from "./connection.ts";
import type { McpConnection, SentCall } from "./connection.ts";
import { CUT_OFF, TOO_LARGE } from "./limited-fetch.ts";
import type { McpServer, McpToolRules } from "./mcp-client-options.ts";

import { mendSchema } from "../core/json/mend-schema.ts";
import { toolError, toolOutputOf, withoutSecrets } from "./tool-output.ts";
import type { ToolPin } from "./tool-pin.ts";

/** Servers answer a call of a tool that they do not have, or an input that does not fit, so. */
const UNKNOWN_TOOL = -32_602;

/** One tool of a server, as the owner has agreed to it. */
export interface AgreedTool {
  readonly serverName: string;
  readonly server: McpServer;
  readonly pin: ToolPin;
  readonly connection: Pick<McpConnection, "call">;
  /** People's own connections, if the server has them. */
  readonly personal?: PersonalCalls | undefined;
  readonly log: Log;
  /** The server does not know the tool any more. */
  readonly onRefused: () => void;
}

/** The calls of a server that each person uses with an own token. */
export interface PersonalCalls {
  /** Whether the server lists a tool for the person of a turn. */
  isListed(hash: string, ctx: OfferContext): Promise<boolean>;
  /** Calls with the person's token. Once more with a newer one, if the server refuses the first one. */
  call(sent: SentCall, ctx: ActionContext): Promise<PersonalResult>;
}

export interface PersonalResult {
  readonly result: CallToolResult;
  /** The token, which the result must not show. */
  readonly token: string;
  /** Whether it is the first call of its turn that has worked. */
  readonly isFirst: boolean;
}

/**
 * Returns the action that stands for a tool, so that each call has its consent, permissions, ledger, limits and audit. A
 * tool has an effect that nobody knows, unless the bot's author says otherwise: its calls are asked about.
 */
export function toolAction(tool: AgreedTool): Action {
  const { personal, pin, server, serverName } = tool;
  const isRead = server.trustAnnotations === true && pin.isReadOnly;
  const { approval = !isRead, ...rules } = rulesOf(server, pin.name);
  const action = defineAction<ReturnType<typeof inputSchemaOf>, unknown, ActionContext>({
    ...rules,
    description: pin.description === "" ? `The tool ${pin.name} of ${serverName}.` : pin.description,
    inputSchema: inputSchemaOf(pin),
    // The description is the server's: it is no sentence that somebody should agree to.
    approvalSummary: `${serverName}: ${pin.name}`,
    approval:
      typeof approval === "function"
        ? ({ input }: { readonly input: ObjectInput }) => approval({ tool: pin.name, input })
        : approval,
    ...(personal !== undefined && {
      enabled: (ctx: OfferContext) => personal.isListed(pin.hash, ctx),
      preview: ({ ctx }: { readonly ctx: ActionContext }) =>
        isGroup(ctx) ? `Uses the connection of ${nameOf(ctx)} with ${serverName}.` : undefined,
    }),
    annotations: isRead ? { readOnly: true } : { destructive: pin.isDestructive },
    execute: (input: ObjectInput, ctx) => callTool(tool, input, ctx),
  });
  // Its absence means nothing while the catalogue is not loaded.
  return { ...action, isTool: true };
}

/** Rules of the tool win over those of its server. */
function rulesOf({ tools = {}, ...server }: McpServer, name: string): McpToolRules {
  const { approval, approvers, askIn, grantable, permissions, requesterMayApprove, timeoutMs } = {
    ...server,
    ...(Object.hasOwn(tools, name) && tools[name]),
  };
  return Object.fromEntries(
    Object.entries({
      approval,
      approvers,
      askIn,
      grantable,
      permissions,
      requesterMayApprove,
      timeoutMs,
    }).filter(([, value]) => value !== undefined),
  );
}

function inputSchemaOf({ inputSchema }: ToolPin) {
  const mended = mendSchema(inputSchema) ?? { type: "object" };
  const required = Array.isArray(mended["required"]) ? mended["required"].map(String) : [];
  return objectSchema({ ...mended, required });
}

async function callTool(tool: AgreedTool, input: ObjectInput, ctx: ActionContext): Promise<unknown> {
  const { connection, personal, pin, serverName } = tool;
  let { server } = tool;
  try {
    const sent: SentCall = {
      tool: pin.name,
      inputSchema: pin.inputSchema,
      input,
      signal: ctx.signal,
      onProgress: (fraction) =>
        ctx.progress({
          message: `${serverName}: ${pin.name}`,
          ...(fraction !== undefined && { fraction }),
        }),
    };
    let result: CallToolResult;
    if (personal === undefined) result = await connection.call(sent);
    else {
      const made = await personal.call(sent, ctx);
      ({ result } = made);
      server = withToken(server, made.token);
      // Everybody in a group sees, below the answer, whose connection it has used.
      if (isGroup(ctx) && made.isFirst)
        ctx.attachReply({
          type: "card",
          text: escapeMarkdown(`Used the connection of ${nameOf(ctx)} with ${serverName}.`),
        });
    }
    const { attachments, output } = toolOutputOf(result);
    for (const attachment of attachments) ctx.attachReply(attachment as never);
    return withoutSecrets(output, server);
  } catch (error) {
    if (ctx.signal.aborted || error instanceof ActionError) throw error;
    return withoutSecrets(failedCall(tool, error), server);
  }
}

function isGroup({ chat }: ActionContext): boolean {
  return chat?.isDirectMessage === false;
}

function nameOf({ person }: ActionContext): string {
  return person?.fullName ?? person?.userName ?? person?.userId ?? "";
}

/**
 * Returns the result of a call that the server has answered with an error, or whose effect is not known.
 *
 * @throws {ActionError} if the call certainly had no effect
 */
function failedCall({ log, onRefused, pin, server, serverName }: AgreedTool, error: unknown): unknown {
  const [code, status] = [protocolCode(error), statusOf(error)];
  log.warn("mcp-client.call-failed", { server: serverName, reason: failureReason(error) });
  if (status === 401 || status === 403)
    throw new ActionError(`The server "${serverName}" refused the bot's credentials. Nothing was done.`);
  if (error instanceof NotConnectedError)
    throw new ActionError(`The server "${serverName}" cannot be reached now. Nothing was done.`);
  if (status !== undefined && status < 500)
    throw new ActionError(`The server "${serverName}" did not take the call. Nothing was done.`);
  if (code === TOO_LARGE)
    return toolError("The tool ran, but its answer is too large to read. Ask for less at once.");
  if (code !== undefined && code !== CUT_OFF) {
    if (code === UNKNOWN_TOOL) onRefused();
    return toolError(error instanceof Error ? error.message.slice(0, 500) : "");
  }
  if (server.trustAnnotations === true && pin.isReadOnly)
    throw new ActionError(`The server "${serverName}" did not answer.`);
  return outcomeUnknown();
}
