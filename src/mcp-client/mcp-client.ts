import { checkOptions, isObject, TEXT, whole } from "../core/check-options.ts";
import type { OptionRules } from "../core/check-options.ts";
import type { FeatureRoutes } from "../feature/feature-routes.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { McpClientFeature } from "./mcp-client-feature.ts";
import type { McpClientOptions } from "./mcp-client-options.ts";
import { mcpToolRoutes } from "./mcp-tool-routes.ts";
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
