import { checkOptions, FLAG, isObject, isText, listOf, POSITIVE, TEXT } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import type { McpClientOptions, McpServer, McpServers, McpToolRules } from "./mcp-client-options.ts";

const NAME = /^[a-z](?:-?[a-z0-9])*$/;
const LONGEST_NAME = 24;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

const RULES: OptionRules<McpToolRules> = {
  approval: [
    "true, false or a function",
    (value) => typeof value === "boolean" || typeof value === "function",
  ],
  approvers: true,
  askIn: true,
  grantable: ["true", (value) => value === true],
  permissions: true,
  requesterMayApprove: FLAG,
  timeoutMs: POSITIVE,
};
const SERVER: OptionRules<McpServer> = {
  ...RULES,
  url: TEXT,
  headers: ["an object of texts", (value) => isObject(value) && Object.values(value).every(isText)],
  auth: [
    '"person" or { clientId, clientSecret, scope }',
    (value) => value === "person" || (isObject(value) && "clientId" in value && isText(value.clientId)),
  ],
  trustAnnotations: FLAG,
  only: listOf("a list of names", isText),
  tools: ["an object of rules", isObject],
  allowInsecure: FLAG,
};

/**
 * Returns the servers of a bot.
 *
 * @throws {ConfigurationError} `mcp-server-name`, `mcp-server-option`, `mcp-server-url`
 */
export function serversOf(options: McpClientOptions, env: unknown): McpServers {
  const { servers } = options;
  const given = typeof servers === "function" ? servers(env) : servers;
  for (const [name, server] of Object.entries(given)) check(name, server);
  return given;
}

function check(name: string, server: McpServer): void {
  if (!NAME.test(name) || name.length > LONGEST_NAME)
    throw new ConfigurationError(
      "mcp-server-name",
      `mcpClient({ servers }): "${name}" is no name. It has 1 to ${LONGEST_NAME} small letters, digits and "-", and begins with a letter.`,
    );
  const owner = `the MCP server "${name}"`;
  checkOptions(server, SERVER, { owner, code: "mcp-server-option" });
  for (const [tool, rules] of Object.entries(server.tools ?? {}))
    checkOptions(rules, RULES, { owner, at: `tools.${tool}`, code: "mcp-server-option" });
  const url = URL.parse(server.url ?? "");
  // An address may hold a token, so no message repeats it.
  if (
    url === null ||
    !["https:", "http:"].includes(url.protocol) ||
    url.username !== "" ||
    url.password !== ""
  )
    throw new ConfigurationError(
      "mcp-server-url",
      `The url of ${owner} is no plain http address. Write it as "https://example.com/mcp", and a password into headers.`,
    );
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname) && server.allowInsecure !== true)
    throw new ConfigurationError(
      "mcp-server-url",
      `The url of ${owner} must be https, because everybody between could read its headers. allowInsecure: true allows http.`,
    );
}
