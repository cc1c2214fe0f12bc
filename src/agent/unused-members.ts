import { distanceOf } from "../core/text/closest-name.ts";
import type { HealthWarning } from "../messengers/root/health/health-problem.ts";
import { HOOK_NAMES } from "../turn/hooks.ts";

/** The members that a bot can override. */
const MEMBERS = [
  "maxSteps",
  "maxContextTokens",
  "interruptedStep",
  "chatRecovery",
  "contextOverflow",
  "repairInterruptedToolPart",
  "chatStreamStallTimeoutMs",
  "chatStreamFirstChunkTimeoutMs",
  "modelPatienceMs",
  "modelAttempts",
  "maxConcurrentAgentTools",
  "maxAgentToolDepth",
  "sendReasoning",
  "actionLedgerPendingRetryLeaseMs",
  "actionTemplates",
  "approvalWords",
  "subscribeCommands",
  "publicUrl",
  "chatSchedules",
  "keepDeliveriesMs",
  "keepUsageMs",
  "keepApprovalsMs",
  "texts",
  "modelPrices",
  "getModel",
  "getSystemPrompt",
  "getTools",
  "getSkills",
  "getSkillScriptRunner",
  "getExtensions",
  "getActions",
  "getMessengers",
  "getCommands",
  "getIncomingHooks",
  "getQuestions",
  "getScheduledTasks",
  "getDefaultTimezone",
  "configureChannels",
  "configureSession",
  "authorizeTurn",
  "authorizeAction",
  ...HOOK_NAMES,
  "onApprovalRequested",
  "onAgentToolStart",
  "onAgentToolFinish",
  "onProgress",
  "getAgentToolOutput",
  "onAnswer",
  "onChatMember",
  "onReaction",
  "onAction",
  "onRequest",
  "quietHoursOf",
  "transcribe",
  "renderAttachment",
];

const AGENT_TOOLS = 'Use "getAgentToolOutput" of the agent';
const MODEL = 'Return a model from "getModel"';
const TRANSCRIPT = 'Use "maxContextTokens"';
const QUEUE = "Turns run one at a time, and messages that follow quickly join the running one";
const CONTENT = 'Use "content" of telemetry()';

/** Members of Think that this version does not use, with what to write instead. */
const NOT_THERE: Readonly<Record<string, string>> = {
  actionLedgerRetention: "Runs are kept for 30 days, and unknown ones for 90",
  actionPendingApprovalTtlMs: 'Use "expiresAfterMs" of an action',
  codemode: 'Use the static member "codemode"',
  configureContext: 'Use "configureSession"',
  describePausedExecution: 'Use "approvalSummary" of an action',
  fetchTools: "Write a tool that fetches",
  formatAgentToolInput: AGENT_TOOLS,
  formatDetachedCompletion: AGENT_TOOLS,
  formatDetachedMilestone: AGENT_TOOLS,
  getAIBinding: MODEL,
  getAgentToolSummary: AGENT_TOOLS,
  getGateway: MODEL,
  getScheduledTasksScope: 'Use "scope" of a task',
  hookTimeout: "Hooks have 30 seconds",
  hydrationByteBudget: TRANSCRIPT,
  includeMcpTools: 'Use "only" of a server of mcpClient()',
  mediaEviction: TRANSCRIPT,
  messageConcurrency: QUEUE,
  messageMetadata: 'Keep it in "onChatResponse"',
  messengerConcurrency: QUEUE,
  onStepEnd: 'Use "onStepFinish"',
  onSubmissionStatus: 'Use "onChatResponse" or "inspectSubmission"',
  resolveModel: MODEL,
  storeMessages: CONTENT,
  storeTools: CONTENT,
  submissionRecoveryStaleMs: 'Use "chatRecovery"',
  truncationStep: TRANSCRIPT,
  compactAfter: 'Call it on the session in "configureSession", or use "maxContextTokens"',
  workspace: 'Give the class the static member "workspace", made by workspace() of "switchboard/workspace"',
  workspaceBash: 'Use the option "bash" of workspace()',
  extensionLoader: 'Extensions need no binding, only "static extensions": they run inside of the object',
  waitForMcpConnections: 'Name MCP servers in "static mcpClient": no turn has to wait for them',
};

export interface UnusedMember extends HealthWarning {
  readonly member: string;
}

/**
 * Finds members of a bot's class that have no effect: those of Think that this version does not use, and near misses of
 * those that a bot can override. A bot may well have such a member for itself, so none of them is refused.
 */
export function unusedMembers(bot: object): UnusedMember[] {
  return [...ownMembers(bot)].flatMap((name) => {
    const because = reason(name);
    if (because === undefined) return [];
    return {
      code: "member-unused",
      member: name,
      message: `The bot's own "${name}" is not called by anything here. ${because}.`,
    };
  });
}

/** By the name of a member. All objects of a process have the same few, and each comparison with all names takes time. */
const reasons = new Map<string, string | undefined>();

function reason(name: string): string | undefined {
  if (!reasons.has(name)) reasons.set(name, findReason(name));
  return reasons.get(name);
}

function findReason(name: string): string | undefined {
  if (Object.hasOwn(NOT_THERE, name)) return NOT_THERE[name];
  if (MEMBERS.some((member) => member === name)) return undefined;
  const meant = MEMBERS.find((member) => isNear(name, member));
  return meant === undefined ? undefined : `Is "${meant}" meant? Otherwise give it a name that differs more`;
}

function isNear(name: string, member: string): boolean {
  const most = member.length > 8 ? 2 : 1;
  return distanceOf(name.toLowerCase(), member.toLowerCase(), most) <= most;
}

/**
 * Returns the names of the bot's fields, and of the methods of its class and of the author's classes above it. The
 * `agents` package copies the methods of all its classes into the bot's own, so names of the base do not count.
 */
function ownMembers(bot: object): Set<string> {
  const chain: object[] = [];
  for (let at: unknown = Object.getPrototypeOf(bot); isObject(at); at = Object.getPrototypeOf(at))
    chain.push(at);
  const base = chain.findLastIndex(isThink);
  const ofBase = new Set(chain.slice(base).flatMap((at) => Object.getOwnPropertyNames(at)));
  const own = chain.slice(0, base).flatMap((at) => Object.getOwnPropertyNames(at));
  return new Set([
    ...Object.keys(bot),
    ...own.filter((name) => !ofBase.has(name) || Object.hasOwn(NOT_THERE, name)),
  ]);
}

/** Whether a prototype is that of the class that a bot extends. */
function isThink(prototype: object): boolean {
  return Object.hasOwn(prototype, "getMessengerContext") && Object.hasOwn(prototype, "submitMessages");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
