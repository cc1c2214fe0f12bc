import { ConfigurationError } from "../core/base/errors.ts";
import { checkOptions, isText, listOf, TEXT, type OptionRules } from "../core/json/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { McpFeature } from "./mcp-feature.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";

const OPTIONS: OptionRules<McpServerOptions> = {
  app: TEXT,
  actions: listOf("a list of names of actions", isText),
  origins: listOf("a list of origins", isText),
  owner: { messenger: TEXT, userId: TEXT },
};
const APP = /^[a-z](?:-?[a-z0-9]){0,23}$/;

/**
 * Makes the bot's actions tools of the Model Context Protocol, at `/mcp`. Callers need a token of `switchboard token
 * create`.
 *
 * @throws {ConfigurationError} `mcp-option`, `mcp-app`, `mcp-origin`
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override mcpServer = mcpServer({ app: "shop" });
 * }
 */
export function mcpServer(options: McpServerOptions): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "mcpServer", code: "mcp-option" });
  const { app, origins = [] } = options;
  if (!APP.test(app))
    throw new ConfigurationError(
      "mcp-app",
      `mcpServer({ app: "${app}" }): the name has 1 to 24 small letters, digits and "-", and begins with a letter.`,
    );
  const wrong = origins.find((origin) => URL.parse(origin)?.origin !== origin);
  if (wrong !== undefined)
    throw new ConfigurationError(
      "mcp-origin",
      `mcpServer({ origins }): "${wrong}" is no origin. Write it as "https://example.com", without a path.`,
    );
  return new ImportedFeature({
    name: "mcp",
    routes: mcpRoutes(options),
    create: (host) => new McpFeature(host, options),
  });
}
