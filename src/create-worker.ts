import { routeAgentRequest } from "agents";
import { checkOptions, FUNCTION, isText, orFunction } from "./core/json/check-options.ts";
import type { OptionRules } from "./core/json/check-options.ts";
import { ConfigurationError, failureCode } from "./core/base/errors.ts";
import { consoleLogOf } from "./log/console-log.ts";
import { failSafely } from "./messengers/root/answer-safely.ts";
import { agentNamespace } from "./agent/agent-namespace.ts";
import { parseObjectAddress } from "./messengers/declare/conversation-name.ts";
import { BOT } from "./agent/bot-root.ts";
import { featuresOf } from "./agent/features.ts";
import { systemDeps } from "./core/base/deps.ts";
import type { CallGroup } from "./core/chat/inner-calls.ts";
import { callsOver } from "./core/chat/inner-calls.ts";
import { answerMailPage, MAIL_PAGE_PATH } from "./messengers/root/mail-page.ts";
import type { HealthProblem, HealthWarning } from "./messengers/root/health/health-problem.ts";
import { storageProblem } from "./messengers/root/health/storage-health.ts";
import { decodedPart, problem } from "./core/web/problem.ts";
import type { RoutedBot } from "./feature/feature-routes.ts";
import { isForOperator, serveOperator } from "./operator-routes.ts";
import { isAdmin, unauthorized } from "./feature/admin.ts";
import { Think } from "./think.ts";

export interface WorkerOptions<Env> {
  /**
   * The name of the root that handles a request, without `/`. A busy bot has several, one for each shard. @default
   * "default"
   */
  readonly root?: string | ((request: Request, env: Env) => string);
  /**
   * Decides who may reach `/agents/...`, sub-agents and web sockets: that is, agents by name, with their transcripts
   * and state; and who may submit prompts to `/conversations/...`. Return `true`, or a Response to answer with.
   * @default requests with the environment's `ADMIN_TOKEN` as bearer; nobody if it is not set
   */
  readonly authorize?: (request: Request, env: Env) => boolean | Response | Promise<boolean | Response>;
}

const OPTIONS: OptionRules<WorkerOptions<unknown>> = {
  root: orFunction(["a name without /", isText]),
  authorize: FUNCTION,
};

/** A class that extends `Think`. Its full type is not compared, because it is too deep for the compiler. */
export interface AgentClass {
  readonly name: string;
  readonly prototype: object;
}

/**
 * Creates the fetch handler of a bot. It serves `/health` and `/health/live`, and `/agents/...` for authorized requests
 * and `/switchboard/...` for the operator. Everything else goes to the root object, which serves the messengers'
 * webhooks and then the bot's own `onRequest`.
 *
 * @throws {ConfigurationError} if the class does not extend `Think`, an option does not exist, or `feature-not-imported`
 * @example export default createWorker(MyBot);
 */
export function createWorker<Env = unknown>(
  agentClass: AgentClass,
  options: WorkerOptions<Env> = {},
): ExportedHandler<Env> {
  if (!(agentClass.prototype instanceof Think)) {
    throw new ConfigurationError(
      "agent-class-invalid",
      `createWorker() needs a class that extends Think; ${agentClass.name} does not.`,
    );
  }
  checkOptions(options, OPTIONS, { owner: "createWorker", code: "worker-option-invalid" });
  // A static member that its import has not made is refused here.
  featuresOf(agentClass);
  return {
    async fetch(received, env, context) {
      const request = withoutInnerHeaders(received);
      const log = consoleLogOf(env);
      const bot: Bot<Env> = {
        agentClass,
        root: failSafely(log, "root", rootOf(options.root)),
        authorize: failSafely(log, "authorize", options.authorize ?? isAdmin),
      };
      try {
        return await serve(bot, request, env, context);
      } catch (error) {
        // A mistake in the options. Its message says how to fix it.
        if (error instanceof RootNameError) throw error;
        // An object could not be started or has died, or the bot's own code failed. The caller may try again (I1), and
        // learns nothing about the error (I10).
        log.error("root.failed", { code: failureCode(error) });
        return problem(503, "unavailable", "The bot is unavailable right now. Please try again.", {
          "retry-after": "1",
        });
      }
    },
  };
}

/** The bot that a worker serves. Errors of its own functions never get out. */
interface Bot<Env> {
  readonly agentClass: AgentClass;
  readonly root: (request: Request, env: Env) => Promise<string>;
  readonly authorize: (request: Request, env: Env) => Promise<boolean | Response>;
}

async function serve<Env>(
  bot: Bot<Env>,
  request: Parameters<NonNullable<ExportedHandler<Env>["fetch"]>>[0],
  env: Env,
  context: ExecutionContext,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  // For process monitors: it calls no object, and only says that requests are served.
  if (pathname === "/health/live") return Response.json({ status: "live" });
  if (pathname === MAIL_PAGE_PATH && request.method === "GET") return answerMailPage();
  if (pathname === "/health") return health(bot, request, env, context);
  for (const { routes } of featuresOf(bot.agentClass))
    if (routes?.isFor(pathname) === true) return routes.serve(request, routedBot(bot, request, env, context));
  if (isForOperator(pathname)) {
    const calls = await routedBot(bot, request, env, context).root(BOT);
    return serveOperator(request, env, bot.agentClass.name, calls);
  }
  if (pathname === "/agents" || pathname.startsWith("/agents/"))
    return serveAgents(bot, request, env, context);
  // Web sockets and paths of sub-agents also reach into the root: its state, its callables, its children.
  if (isInward(request, pathname)) {
    const refusal = await refuse(bot, request, env);
    if (refusal !== undefined) return refusal;
  }
  const root = rootName(await bot.root(request, env));
  return agentNamespace(context, env as object, bot.agentClass.name)
    .getByName(root)
    .fetch(request);
}

function routedBot<Env>(bot: Bot<Env>, request: Request, env: Env, context: ExecutionContext): RoutedBot {
  const objects = agentNamespace(context, env as object, bot.agentClass.name);
  const root = async (): Promise<string> => rootName(await bot.root(request, env));
  const callsTo = <Calls extends object>(group: CallGroup<Calls>, object: string, of = objects): Calls =>
    callsOver(group, () => of.getByName(object), systemDeps.clock);
  return {
    env,
    refuse: () => refuse(bot, request, env),
    root: async (group) => callsTo(group, await root()),
    conversation: async (group, address) => {
      const { className, conversation } = parseObjectAddress(address);
      const of = className === undefined ? objects : agentNamespace(context, env as object, className);
      return callsTo(group, `${await root()}/${conversation}`, of);
    },
  };
}

/** Answers 200 if messages can be answered, and otherwise 503 with what to do. */
async function health<Env>(
  bot: Bot<Env>,
  request: Request,
  env: Env,
  context: ExecutionContext,
): Promise<Response> {
  const agent = bot.agentClass.name;
  let found: HealthProblem | undefined;
  let warnings: readonly HealthWarning[] = [];
  try {
    const root = await routedBot(bot, request, env, context).root(BOT);
    found = await root.healthProblem();
    // A bot whose declarations cannot be read has nothing to warn about.
    warnings = await root.healthWarnings().catch((error: unknown) => {
      if (found?.status === "misconfigured") return [];
      throw error;
    });
  } catch (error) {
    found = problemOf(error);
  }
  const more = warnings.length === 0 ? {} : { warnings };
  if (found === undefined) return Response.json({ status: "ok", agent, ...more });
  const { code, message, status } = found;
  return Response.json({ status, agent, problem: { code, message }, ...more }, { status: 503 });
}

function problemOf(error: unknown): HealthProblem {
  if (error instanceof ConfigurationError)
    return { status: "misconfigured", code: error.code, message: error.message };
  // A failed commit ends the object before it can report the error.
  if (["storage-full", "data-newer"].includes(failureCode(error))) return storageProblem(error);
  return {
    status: "unavailable",
    code: "root-unreachable",
    message: "The root object could not be started. See the log.",
  };
}

/** Headers that agents use among themselves. They are trusted, so none may come from outside. */
const INNER_HEADER = /^x-(?:agents|cf-agents)-/;

function withoutInnerHeaders<R extends Request>(request: R): R {
  const inner: string[] = [];
  for (const name of request.headers.keys()) {
    if (name.startsWith("x-") && INNER_HEADER.test(name)) inner.push(name);
  }
  if (inner.length === 0) return request;
  const headers = new Headers(request.headers);
  for (const name of inner) headers.delete(name);
  return new Request(request, { headers }) as R;
}

async function serveAgents<Env>(
  bot: Bot<Env>,
  request: Request,
  env: Env,
  context: ExecutionContext,
): Promise<Response> {
  const refusal = await refuse(bot, request, env);
  if (refusal !== undefined) return refusal;
  // The router takes the name from the path, where the "/" in a conversation's name must be encoded.
  const toDecodedName = async (
    routed: Request,
    { className, name }: { readonly className: string; readonly name: string },
  ): Promise<Response | undefined> => {
    const decoded = decodedPart(name);
    if (decoded === name) return undefined;
    if (decoded === undefined) return noAgent();
    return agentNamespace(context, env as object, className)
      .getByName(decoded)
      .fetch(routed);
  };
  return (
    (await routeAgentRequest(request, env, {
      onBeforeRequest: toDecodedName,
      onBeforeConnect: toDecodedName,
    })) ?? noAgent()
  );
}

function isInward(request: Request, pathname: string): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket" || `${pathname}/`.includes("/sub/");
}

/** Returns the response to an unauthorized request. Undefined if it is authorized. */
async function refuse<Env>(
  { authorize }: Bot<Env>,
  request: Request,
  env: Env,
): Promise<Response | undefined> {
  const verdict = await authorize(request, env);
  if (verdict instanceof Response) return verdict;
  if (verdict) return undefined;
  return unauthorized();
}

function noAgent(): Response {
  return problem(404, "not-found", "There is no agent at this address.");
}

function rootOf<Env>(root: WorkerOptions<Env>["root"] = "default"): (request: Request, env: Env) => string {
  return typeof root === "function" ? root : () => root;
}

class RootNameError extends ConfigurationError {}

/** @throws {RootNameError} if it cannot be a root's name */
function rootName(name: string): string {
  if (name !== "" && !name.includes("/")) return name;
  throw new RootNameError(
    "root-name-invalid",
    `The root's name is "${name}". It must not be empty and must not contain "/", which stands before the name of a conversation.`,
  );
}
