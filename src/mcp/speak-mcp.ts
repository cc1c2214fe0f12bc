import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type {
  CallToolRequestParams,
  CallToolResult,
  InputRequiredResult,
  McpRequestContext,
  ServerContext,
  Tool as ListedTool,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import type { Clock } from "../core/base/deps.ts";
import { failureCode } from "../core/base/errors.ts";
import { parseJson } from "../core/json/parse-json.ts";
import { isRecord } from "../core/json/is-record.ts";
import type { Log } from "../core/base/log.ts";
import type {
  AskedThere,
  CallAnswer,
  CallTask,
  ClientAnswer,
  McpCalls,
  ToolCall,
  ToolDescriptor,
} from "./mcp-calls.ts";
import { withWaiting } from "./output-schema.ts";
import type { McpCaller } from "./token.ts";
import { TASK_TOOL, toolName } from "./tool-list.ts";
import { wait } from "../core/base/deps.ts";

const LOOK_EVERY_MS = 1_000;

/** One request of a client, whose token was accepted. */
export interface McpRequest {
  readonly app: string;
  readonly caller: McpCaller;
  readonly clock: Clock;
  readonly log: Log;
  /** The conversation of the token. */
  readonly conversation: McpCalls;
}

const CONSENT_SCHEMA = {
  type: "object" as const,
  properties: { approve: { type: "boolean" as const, title: "Approve" } },
  required: ["approve"],
};
const VERSION = "1";
const TASKS = "io.modelcontextprotocol/tasks";
/** Key of the question whether a call may run. */
const CONSENT = "consent";
/** Key of a question from inside an action. */
const ANSWER = "answer";
const POLL_EVERY_MS = 2_000;
const LONGEST_KEY = 200;

const taskSchema = z.object({ taskId: z.string().min(1).max(128) });
const contentSchema = z.record(z.string(), z.json());
const stateSchema = z.object({ callId: z.string(), questionId: z.string() });

/**
 * Answers one request in the Model Context Protocol: revision 2026-07-28, and clients of 2025 without sessions. The
 * protocol is that of its own package; this maps its words to calls of the bot.
 */
export async function speakMcp(request: Request, body: unknown, mcp: McpRequest): Promise<Response> {
  const answered: string[] = [];
  // A client of 2025 cancels with a request of its own, which no instance of the server knows.
  const cancelled = cancelledRequest(body);
  if (cancelled !== undefined) await mcp.conversation.cancelRequest(cancelled);
  // The tools change only with a deploy, so no client gets a stream of changes that stays open.
  const handler = createMcpHandler((context) => serverFor(mcp, context, answered), { maxSubscriptions: 0 });
  const response = await handler.fetch(request, { parsedBody: body });
  return afterReading(response, async () => {
    for (const callId of answered) await mcp.conversation.noteAnswered(callId);
  });
}

function serverFor(mcp: McpRequest, { era }: McpRequestContext, answered: string[]): McpServer {
  const { app, caller, conversation } = mcp;
  const isModern = era === "modern";
  const server = new McpServer(
    { name: app, version: VERSION },
    { capabilities: { tools: {}, ...(isModern && { extensions: { [TASKS]: {} } }) } },
  );
  const rpc = server.server;
  rpc.setRequestHandler("tools/list", async (_request, context) => {
    const tools = await reached(mcp, () => conversation.listTools(caller));
    const canPoll = hasTasks(context);
    const listed = tools.map((tool) => listedTool(tool, canPoll));
    return { tools: canPoll ? listed : [...listed, taskTool(app)] };
  });
  rpc.setRequestHandler("tools/call", async ({ params }, context) => {
    if (params.name === toolName(app, TASK_TOOL)) return lookedAt(mcp, params.arguments);
    const call = toolCallOf(params, context);
    const cancel = (): void => void conversation.cancelRequest(call.requestId).catch(() => undefined);
    context.mcpReq.signal.addEventListener("abort", cancel, { once: true });
    const answer = await withProgress(context, mcp, () =>
      reached(mcp, () => conversation.callTool(caller, call)),
    );
    if (answer.kind !== "unknown-tool" && answer.callId !== "") answered.push(answer.callId);
    return resultFor(answer, app, hasTasks(context)) as CallToolResult | InputRequiredResult;
  });
  if (isModern) serveTasks(server, mcp);
  return server;
}

/** A client without tasks may get word of a task in place of an output. */
function listedTool({ inputSchema, outputSchema, ...tool }: ToolDescriptor, canPoll: boolean): ListedTool {
  const output = outputSchema && (canPoll ? outputSchema : withWaiting(outputSchema));
  return {
    ...tool,
    inputSchema: { ...inputSchema },
    ...(output !== undefined && { outputSchema: { ...output } }),
  };
}

/** The methods of the extension for tasks. */
function serveTasks({ server }: McpServer, mcp: McpRequest): void {
  const { caller, conversation } = mcp;
  const known = async (taskId: string, context: ServerContext): Promise<CallTask> => {
    if (!hasTasks(context))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      });
    const task = await reached(mcp, () => conversation.readTask(taskId));
    if (task === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Task not found");
    return task;
  };
  server.setRequestHandler("tasks/get", { params: taskSchema }, async ({ taskId }, context) =>
    taskFields(await known(taskId, context)),
  );
  // No task asks its client for anything: a client that can ask its person is asked before there is a task.
  server.setRequestHandler("tasks/update", { params: taskSchema }, async ({ taskId }, context) => {
    await known(taskId, context);
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params: taskSchema }, async ({ taskId }, context) => {
    await known(taskId, context);
    await reached(mcp, () => conversation.cancelCall(caller, taskId));
    return {};
  });
}

function toolCallOf(params: CallToolRequestParams, context: ServerContext): ToolCall {
  const { mcpReq } = context;
  const key = mcpReq._meta?.["idempotencyKey"] ?? context.http?.req?.headers.get("idempotency-key");
  return {
    tool: params.name,
    input: (params.arguments ?? {}) as { readonly [key: string]: Json },
    requestId: mcpReq.id,
    idempotencyKey: typeof key === "string" && key !== "" && key.length <= LONGEST_KEY ? key : undefined,
    canAsk: canAskPerson(context),
    resumes: resumedBy(mcpReq.requestState()),
    answer: answerIn(mcpReq.inputResponses),
  };
}

/** Returns the call that a client continues. It may send anything, and then it is one that nobody knows. */
function resumedBy(state: unknown): AskedThere | undefined {
  if (typeof state !== "string") return undefined;
  return stateSchema.safeParse(parseJson(state)).data ?? { callId: state };
}

function answerIn(responses: Record<string, unknown> | undefined): ClientAnswer | undefined {
  for (const key of [CONSENT, ANSWER]) {
    const view = inputResponse(responses, key);
    if (view.kind !== "elicit") continue;
    return { action: view.action, content: acceptedContent(responses, key, contentSchema) ?? {} };
  }
  return undefined;
}

function resultFor(answer: CallAnswer, app: string, canPoll: boolean): object {
  switch (answer.kind) {
    case "result":
      return answer.result;
    case "ask":
      return asked(answer);
    case "task":
      return canPoll ? { resultType: "task", ...taskFields(answer.task) } : waitingResult(answer.task, app);
    case "unknown-tool":
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool");
    default:
      return answer satisfies never;
  }
}

function asked({ callId, form, question }: Extract<CallAnswer, { kind: "ask" }>): InputRequiredResult {
  const [key, requestedSchema, requestState] =
    form === undefined
      ? [CONSENT, CONSENT_SCHEMA, callId]
      : [ANSWER, form.schema, JSON.stringify({ callId, questionId: form.questionId })];
  const request = { message: question, requestedSchema: requestedSchema as typeof CONSENT_SCHEMA };
  return inputRequired({ inputRequests: { [key]: inputRequired.elicit(request) }, requestState });
}

function taskFields(task: CallTask): Record<string, unknown> {
  const { changedAt, createdAt, id, result, status, ttlMs } = task;
  return {
    taskId: id,
    status,
    ...(status === "working" && { statusMessage: wordsFor(task) }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(changedAt).toISOString(),
    ttlMs,
    pollIntervalMs: POLL_EVERY_MS,
    ...(result !== undefined && { result }),
  };
}

function wordsFor({ hasBegun, isWaiting, progress }: CallTask): string {
  if (isWaiting && hasBegun === true)
    return "A person is asked something in a chat. The action waits for the answer.";
  if (isWaiting) return "A person has to agree first, and is asked in a chat. The action has not run.";
  const words = "The action takes long, and still runs.";
  return progress === undefined ? words : `${words} ${progress}`;
}

/** What a client without tasks reads. */
function waitingResult(task: CallTask, app: string): object {
  const text = `${wordsFor(task)} Do not call it again: ${toolName(app, TASK_TOOL)} tells what became of it.`;
  return { content: [{ type: "text", text }], structuredContent: { status: task.status, taskId: task.id } };
}

/** The tool with which clients without tasks look at a call. */
function taskTool(app: string): {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  readonly annotations: { readonly readOnlyHint: true };
} {
  return {
    name: toolName(app, TASK_TOOL),
    description:
      "Tells what became of a call that waits for a person or takes long, by the taskId of its answer.",
    inputSchema: { type: "object", properties: { taskId: { type: "string" } }, required: ["taskId"] },
    annotations: { readOnlyHint: true },
  };
}

async function lookedAt(
  mcp: McpRequest,
  input: Record<string, unknown> | undefined,
): Promise<CallToolResult> {
  const parsed = taskSchema.safeParse(input);
  const task = parsed.success
    ? await reached(mcp, () => mcp.conversation.readTask(parsed.data.taskId))
    : undefined;
  if (task?.result !== undefined) return task.result as CallToolResult;
  if (task?.status === "working") return waitingResult(task, mcp.app) as CallToolResult;
  const text = task === undefined ? "There is no call with this taskId." : "The call was taken back.";
  return { content: [{ type: "text", text }], isError: true };
}

/** What the client says that it can do. Only requests of 2026 say it. */
function capabilitiesOf({ mcpReq }: ServerContext): Record<string, unknown> | undefined {
  const said: unknown = Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  return isRecord(said) ? said : undefined;
}

/** Whether the client shows forms to its person. One that says no mode can; one that only opens addresses cannot. */
function canAskPerson(context: ServerContext): boolean {
  const elicitation = capabilitiesOf(context)?.["elicitation"];
  return isRecord(elicitation) && (isRecord(elicitation["form"]) || !isRecord(elicitation["url"]));
}

function hasTasks(context: ServerContext): boolean {
  const extensions = capabilitiesOf(context)?.["extensions"];
  return isRecord(extensions) && isRecord(extensions[TASKS]);
}

function cancelledRequest(body: unknown): string | number | undefined {
  if (!isRecord(body) || body["method"] !== "notifications/cancelled" || !isRecord(body["params"]))
    return undefined;
  const { requestId } = body["params"];
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}

/** Calls the conversation. A client learns nothing of an error there (I10). */
async function reached<T>({ log }: McpRequest, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    log.error("mcp.failed", { code: failureCode(error) });
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      "The bot is unavailable right now. Send the same request again.",
    );
  }
}

/** Calls `done` when the client has read the whole response, and never if it went away before. */
function afterReading(response: Response, done: () => Promise<void>): Response {
  if (response.body === null) return response;
  const read = new TransformStream({ flush: done });
  return new Response(response.body.pipeThrough(read), response);
}

/** Makes a call, and tells a client that has asked for it how far the call is, until it has an answer. */
async function withProgress<T>(
  { mcpReq }: ServerContext,
  { clock, conversation }: McpRequest,
  call: () => Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return call();
  const isAnswered = new AbortController();
  const tell = async (): Promise<void> => {
    for (let shown = 0; ;) {
      await wait(clock, LOOK_EVERY_MS, isAnswered.signal);
      const newest = await conversation.readProgress(mcpReq.id);
      if (newest === undefined || newest.step === shown) continue;
      shown = newest.step;
      const params = { progressToken, progress: shown, message: newest.message };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
  };
  // It ends with the call. A client that has gone hears nothing.
  const telling = tell().catch(() => undefined);
  try {
    return await call();
  } finally {
    isAnswered.abort();
    await telling;
  }
}
