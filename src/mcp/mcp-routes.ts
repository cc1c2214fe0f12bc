import { systemDeps } from "../core/base/deps.ts";
import { isDeeperThan } from "../core/json/json-depth.ts";
import { onlyBy, problem } from "../core/web/problem.ts";
import { readJson } from "../core/json/read-json.ts";
import type { FeatureRoutes, RoutedBot } from "../feature/feature-routes.ts";
import { consoleLogOf } from "../log/console-log.ts";
import { conversationOfToken, MCP } from "./mcp-calls.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";
import { speakMcp } from "./speak-mcp.ts";
import { sentToken } from "./token.ts";
import { isTokenPath, serveTokens } from "./token-routes.ts";

const PATH = "/mcp";
/** Deeper input cannot be passed on to another object. */
const MOST_DEPTH = 64;

/** The paths of clients of the Model Context Protocol, and of the operator who makes their tokens. */
export function mcpRoutes(options: McpServerOptions): FeatureRoutes {
  return {
    isFor: (pathname) => pathname === PATH || isTokenPath(pathname),
    serve: (request, bot) =>
      new URL(request.url).pathname === PATH ? serveMcp(request, bot, options) : serveTokens(request, bot),
  };
}

/**
 * Answers a client. Nothing of the body is read before the origin and the token are known, and an answer never has a
 * header that would open it to web pages.
 */
async function serveMcp(request: Request, bot: RoutedBot, options: McpServerOptions): Promise<Response> {
  const origin = request.headers.get("origin");
  // A page that has its own name resolved to this address sends its own origin.
  if (origin !== null && options.origins?.includes(origin) !== true)
    return problem(
      403,
      "origin-refused",
      "Web pages of this origin may not call. See mcpServer({ origins }).",
    );
  const sent = await sentToken(request);
  if (sent === undefined) return unauthorized();
  const root = await bot.root(MCP);
  const check = await root.checkToken(sent);
  if (check.kind === "refused") return unauthorized();
  if (check.kind === "too-many")
    return problem(429, "too-many-requests", "This token has made too many requests. Try again later.", {
      "retry-after": String(Math.ceil(check.retryAfterMs / 1000)),
    });
  if (request.method !== "POST") return onlyBy("POST");
  const body = await readJson(request, systemDeps.clock);
  if (body instanceof Response) return body;
  // A list of requests would be many calls for one of the token's budget.
  if (Array.isArray(body.json) || isDeeperThan(body.json, MOST_DEPTH))
    return problem(400, "body-invalid", "Send one request, not a list, that is not nested too deep.");
  const { caller } = check;
  const conversation = await bot.conversation(MCP, conversationOfToken(caller.tokenId));
  return speakMcp(request, body.json, {
    app: options.app,
    caller,
    conversation,
    clock: systemDeps.clock,
    log: consoleLogOf(bot.env),
  });
}

function unauthorized(): Response {
  return problem(
    401,
    "unauthorized",
    "Send a valid token of `switchboard token create`: Authorization: Bearer <token>.",
    { "www-authenticate": 'Bearer realm="mcp", error="invalid_token"' },
  );
}
