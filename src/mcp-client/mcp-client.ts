import { z } from "zod";
import { systemDeps } from "../core/base/deps.ts";
import { onlyBy } from "../core/web/problem.ts";
import { readChecked } from "../core/json/read-json.ts";
import { isAdmin, unauthorized } from "../feature/admin.ts";
import { MCP_CLIENT } from "./mcp-client-calls.ts";
import { checkOptions, isObject, TEXT, whole, type OptionRules } from "../core/json/check-options.ts";
import type { FeatureRoutes } from "../feature/feature-routes.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { McpClientFeature } from "./mcp-client-feature.ts";
import type { McpClientOptions } from "./mcp-client-options.ts";
import { signInRoutes } from "./sign-in-routes.ts";

const OPTIONS: OptionRules<McpClientOptions> = {
  servers: ["an object or a function", (value) => isObject(value) || typeof value === "function"],
  owner: { messenger: TEXT, userId: TEXT },
  maxTools: whole(1, 128),
};

const ROUTES: FeatureRoutes = {
  isFor: (pathname) => mcpToolRoutes.isFor(pathname) || signInRoutes.isFor(pathname),
  serve(request, bot) {
    const { pathname } = new URL(request.url);
    return (signInRoutes.isFor(pathname) ? signInRoutes : mcpToolRoutes).serve(request, bot);
  },
};

/**
 * Gives the model tools of servers of the Model Context Protocol. Each tool is offered only after the owner has agreed to
 * it, and its calls ask people as actions do.
 *
 * @throws {ConfigurationError} `mcp-client-option`
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override mcpClient = mcpClient<Env>({
 *     servers: (env) => ({
 *       docs: { url: "https://docs.example/mcp", headers: { authorization: `Bearer ${env.DOCS_TOKEN}` } },
 *     }),
 *     owner: { messenger: "telegram", userId: "4711" },
 *   });
 * }
 */
export function mcpClient<Env = unknown>(options: McpClientOptions<Env>): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "mcpClient", code: "mcp-client-option" });
  return new ImportedFeature({
    name: "mcp-client",
    routes: ROUTES,
    // The environment is that of the bot's class.
    create: (host) => new McpClientFeature(host, options as McpClientOptions),
  });
}

const PATH = "/switchboard/mcp-tools";

const bodySchema = z.strictObject({
  server: z.string(),
  hashes: z.array(z.string()).min(1).max(1_000),
  allow: z.boolean(),
});

/** The path at which the operator sees the servers' tools and decides about them. Only `ADMIN_TOKEN` opens it. */
const mcpToolRoutes: FeatureRoutes = {
  isFor: (pathname) => pathname === PATH,
  async serve(request, bot) {
    if (!isAdmin(request, bot.env)) return unauthorized();
    const root = await bot.root(MCP_CLIENT);
    if (request.method === "GET") return Response.json({ tools: await root.listTools() });
    if (request.method !== "POST") return onlyBy("GET, POST");
    const read = await readChecked(request, systemDeps.clock, bodySchema, {
      code: "mcp-decision-invalid",
      message: 'Send { "server": "docs", "hashes": ["..."], "allow": true }, with hashes of GET.',
    });
    if (read instanceof Response) return read;
    const { allow, hashes, server } = read.body;
    return Response.json({ decided: await root.decideTools(server, hashes, allow) });
  },
};
