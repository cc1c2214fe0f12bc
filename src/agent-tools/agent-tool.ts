import { jsonSchema, tool } from "ai";
import type { FlexibleSchema, InferSchema, Tool } from "ai";
import type { ChatCapableAgentClass } from "agents/agent-tools";
import type { ActionContext } from "../actions/declare/action-context.ts";
import type { Action } from "../actions/declare/action.ts";
import { ACTION_IN_PLACE } from "../actions/tools/approval-tools.ts";
import { sayIn } from "../core/text/bot-texts.ts";
import { checkOptions, FLAG, TEXT } from "../core/json/check-options.ts";
import type { OptionRule, OptionRules } from "../core/json/check-options.ts";
import { checkValue } from "../core/json/check-value.ts";
import { DAY_MS } from "../core/time/civil-time.ts";
import type { Json } from "../core/message/content.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { isSchema } from "../core/json/is-schema.ts";
import { parseJson } from "../core/json/parse-json.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { registerFeature } from "../feature/imported-feature.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import type { RunAnswer, RunAsks, RunEnded } from "./agent-tool-calls.ts";
import type { AgentToolMethods, AgentToolOptions, AgentToolResult } from "./agent-tool-options.ts";
import { AgentToolsFeature, agentToolsOf } from "./agent-tools-feature.ts";
import { callId } from "./call-id.ts";

registerFeature({ name: "agent-tools", create: (host) => new AgentToolsFeature(host) });

/** The longest time that a timer can wait. An agent has limits of its own. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** The property of a question that asks for one value: see `callerSchema`. */
const ONLY = "value";
/** Time to decide, as for approvals. */
const CONSENT_MS = 7 * DAY_MS;
/** Longest question, with the name of the agent before it. */
const LONGEST_MESSAGE = 2_000;
const LONGEST_NAME = 64;

const SCHEMA: OptionRule = ["a schema: z.object({ ... })", isSchema];

const OPTIONS: OptionRules<AgentToolOptions> = {
  description: TEXT,
  inputSchema: SCHEMA,
  outputSchema: SCHEMA,
  display: true,
  displayName: [`a text of 1 to ${LONGEST_NAME} characters`, isName],
  icon: TEXT,
  detached: FLAG,
};

/**
 * Returns a tool that gives a task to another agent: an object of its own, with its own transcript, tools and actions. The
 * model gets its last words. Its questions to people are asked in the chat of this conversation.
 *
 * @param agentClass a class that extends `Think`, which the Worker exports and binds
 * @throws {ConfigurationError} `agent-tool-option`
 * @example
 * override getTools() {
 *   return {
 *     research: agentTool(Researcher, {
 *       description: "Research one topic in depth.",
 *       inputSchema: z.object({ query: z.string().min(3) }),
 *     }),
 *   };
 * }
 */
export function agentTool<InputSchema extends FlexibleSchema, Output = unknown>(
  agentClass: ChatCapableAgentClass,
  options: AgentToolOptions<InputSchema, Output>,
): Tool<InferSchema<InputSchema>, AgentToolResult<Output>> {
  checkOptions<unknown>(options, OPTIONS, { owner: "agentTool", code: "agent-tool-option" });
  const { description, detached = false, displayName: agent = agentClass.name } = options;
  const { inputSchema, outputSchema } = options;
  const delegation: Delegation = { agentClass, agent, outputSchema };
  const action = {
    kind: "server",
    description,
    inputSchema,
    timeoutMs: NO_LIMIT_MS,
    // A call whose process has died goes on: its agent takes it once.
    idempotencyKey: ({ ctx, input }: { readonly ctx: ActionContext; readonly input: unknown }) =>
      callId(ctx.requestId, ctx.toolCallId, input),
    execute: (input: unknown, ctx: ActionContext) =>
      detached ? runDetached(delegation, input, ctx) : runAttached(delegation, input, ctx),
  } as unknown as Action;
  const made = tool({ description, inputSchema, execute: outsideTurn } as never) as object;
  return Object.assign(made, { [ACTION_IN_PLACE]: action, runsBeside: true }) as never;
}

const WAITS =
  "The agent needs an answer of people, whom it has asked in their chat. You will be told its result. Do not call it again for the same.";

interface Delegation {
  readonly agentClass: { readonly name: string };
  readonly agent: string;
  readonly outputSchema: FlexibleSchema | undefined;
}

/** The tool of a bot always has its action in its place. */
function outsideTurn(): never {
  throw new ConfigurationError(
    "agent-tool-outside",
    "agentTool() is for getTools() of a class that extends Think.",
  );
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= LONGEST_NAME;
}

/**
 * Runs an agent to its end. Each time it asks a person, this run asks in its place, and is dropped: what has happened
 * before is in its log.
 */
async function runAttached(delegation: Delegation, input: unknown, ctx: ActionContext): Promise<unknown> {
  const { agent, outputSchema } = delegation;
  const feature = featureOf(ctx);
  const id = await callId(ctx.requestId, ctx.toolCallId, input);
  const facts = factsOf(feature.factsOf(ctx.requestId), ctx);
  const show = (line: string): void => ctx.progress({ message: `${agent}: ${line}` });
  for (let round = 1; ; round += 1) {
    const state = await ctx.step(`round ${round}`, async () => {
      ctx.progress({ message: `${agent} …` });
      const run = { ...delegation, id, input, ...callOf(ctx), facts, canAsk: true };
      const refusal = round === 1 ? await feature.beginRun(run) : undefined;
      if (refusal !== undefined) return refusal;
      const waiting = { signal: ctx.signal, onProgress: show, isPatient: false };
      const reached = await feature.runs.untilAsksOrEnds(id, waiting);
      // Durable together with the end of this step, so the result is either told by a turn, or by this call.
      if (reached.kind === "waits") feature.runs.goOn(id);
      return reached;
    });
    if (state.kind === "waits") return { runId: id, status: "waiting", note: WAITS };
    if (state.kind === "ended") return resultOf(state, outputSchema);
    const answer = await ask(state, agent, ctx);
    await feature.runs.answer(id, state, answer, facts);
  }
}

async function runDetached(delegation: Delegation, input: unknown, ctx: ActionContext): Promise<unknown> {
  const feature = featureOf(ctx);
  const id = await callId(ctx.requestId, ctx.toolCallId, input);
  const facts = factsOf(feature.factsOf(ctx.requestId), ctx);
  const afterEnd = { notify: true };
  const run = { ...delegation, id, input, ...callOf(ctx), facts, canAsk: false, afterEnd };
  const refusal = await feature.beginRun(run);
  if (refusal !== undefined) return resultOf(refusal, undefined);
  const note =
    "The agent works in the background. You will be told its result. Do not call it again for the same.";
  return { runId: id, status: "running", note };
}

function callOf({ requestId, toolCallId }: ActionContext): Pick<ActionContext, "requestId" | "toolCallId"> {
  return { requestId, toolCallId };
}

function featureOf({ agent }: ActionContext): AgentToolsFeature {
  const feature = agentToolsOf(agent);
  if (feature === undefined) return outsideTurn();
  return feature;
}

/** The call may run after its turn is forgotten. Its context knows the people and the chat. */
function factsOf(ofTurn: CallFacts, { chat, client, people, person }: ActionContext): CallFacts {
  if (ofTurn.address !== undefined || chat === undefined || client.messengerId === undefined) return ofTurn;
  const { id: threadId, ...place } = chat;
  const address = { messengerId: client.messengerId, threadId, ...place };
  return { ...ofTurn, people, person, address, chat };
}

/** Asks the person in the place of the agent, with its name. */
async function ask({ message, schema }: RunAsks, agent: string, ctx: ActionContext): Promise<RunAnswer> {
  const words = `**${escapeMarkdown(agent)}:** ${message}`.slice(0, LONGEST_MESSAGE);
  if (schema !== undefined) {
    const single = singleOf(schema);
    const answer = await ctx.elicit({ message: words, schema: jsonSchema((single ?? schema) as never) });
    const { value } = answer as { readonly value?: Json };
    return { content: single === undefined || value === undefined ? value : { [ONLY]: value } };
  }
  const say = sayIn((ctx.agent as AgentToolMethods).texts ?? {}, ctx.person?.language);
  const options = [
    { value: "approve", label: say("approveButton") },
    { value: "reject", label: say("rejectButton") },
  ] as const;
  const { value = "reject" } = await ctx.choose({ message: words, options, expiresAfterMs: CONSENT_MS });
  return { decision: value };
}

/** Returns the schema of a question for one value. A form asks for it without the object around it. */
function singleOf(schema: Json): Json | undefined {
  const { properties } = schema as { readonly properties: Readonly<Record<string, Record<string, Json>>> };
  const [[name, only] = [], ...others] = Object.entries(properties);
  if (name !== ONLY || only === undefined || others.length > 0) return undefined;
  // Its title would be that of the button that agrees.
  const { title: _title, ...rest } = only;
  return rest["type"] === "boolean" ? rest : only;
}

/** Returns what the model reads. */
async function resultOf(end: RunEnded, outputSchema: FlexibleSchema | undefined): Promise<unknown> {
  const { error = "The agent has failed.", output, status, text = "" } = end;
  if (status !== "completed") return { ok: false, status, error, retryable: status === "interrupted" };
  if (outputSchema === undefined) return output ?? text;
  const checked = await checkValue(outputSchema, output ?? parseJson(text));
  if (checked.isValid) return checked.value;
  const problem = `The agent's output does not fit its schema: ${checked.problem}`;
  return { ok: false, status: "error", error: problem, retryable: false };
}
