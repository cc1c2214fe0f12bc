import { isAdmin, unauthorized } from "./feature/admin.ts";
import { systemDeps } from "./core/base/deps.ts";
import { onlyBy, problem } from "./core/web/problem.ts";
import { shortWork } from "./messengers/thread/short-work.ts";
import type { BotCalls } from "./agent/bot-root.ts";

/** Where the bot's operator asks it. Only `ADMIN_TOKEN` opens these paths, whatever `authorize` says. */
const PREFIX = "/switchboard/";
/** Where Prometheus looks by default. */
const METRICS = "/metrics";

/** Tells whether a path is for the operator. */
export function isForOperator(pathname: string): boolean {
  return pathname === METRICS || pathname.startsWith(PREFIX);
}

/** The calls to the root that answer an operator. */
export type OperatorCalls = Pick<BotCalls, "describeBot" | "metrics">;

/**
 * Answers a request of the operator.
 *
 * @param agent name of the bot's class
 */
export async function serveOperator(
  request: Request,
  env: unknown,
  agent: string,
  root: OperatorCalls,
): Promise<Response> {
  if (!isAdmin(request, env)) return unauthorized();
  const { pathname } = new URL(request.url);
  if (pathname === `${PREFIX}bot`) {
    if (request.method !== "GET") return onlyBy("GET");
    return Response.json({ agent, ...(await root.describeBot()) });
  }
  // The server of this process asks before it ends. The answer says nothing about other processes.
  if (pathname === `${PREFIX}work`) {
    if (request.method !== "GET") return onlyBy("GET");
    return Response.json({ open: shortWork.count(systemDeps.clock.now()) });
  }
  if (pathname === METRICS) {
    if (request.method !== "GET") return onlyBy("GET");
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response(await root.metrics(), { headers });
  }
  return problem(404, "not-found", "There is nothing at this address.");
}
