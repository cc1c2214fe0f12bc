import type { AsyncLocalStorage } from "node:async_hooks";
import type { Adapter } from "chat";
import { z } from "zod";
import type { StateKind } from "../state/state-kind.ts";
import type { InstallationRules } from "./installation-rules.ts";

/** Whose calls the adapter makes. */
interface RequestContext {
  readonly token: string;
  readonly botUserId: string | undefined;
  readonly installationId?: string;
}

/** The parts of the adapter that know installations. */
const slackAdapter = z.object({
  clientId: z.string().optional(),
  defaultBotTokenProvider: z.unknown().optional(),
  installationKeyPrefix: z.string(),
  installationProvider: z
    .custom<{ getInstallation(id: string, isEnterprise: boolean): Promise<unknown> }>(isObject)
    .nullish(),
  requestContext: z.custom<AsyncLocalStorage<RequestContext>>(isObject),
  getInstallation: z.custom<(id: string) => Promise<unknown>>(isFunction),
  handleOAuthCallback: z.custom<(request: Request, options: object) => Promise<unknown>>(isFunction),
});
const installation = z.object({ botToken: z.string(), botUserId: z.string().optional() }).nullish();

/** What a bot needs that is mentioned, reads its threads, and sends files. */
const SCOPES = [
  "app_mentions:read",
  "channels:history",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "im:history",
  "mpim:history",
  "reactions:read",
  "users:read",
];

/** Ids of enterprises begin with E, those of workspaces with T. */
const isEnterprise = (id: string): boolean => id.startsWith("E");

const removal = z.object({
  type: z.literal("event_callback"),
  team_id: z.string().nullish(),
  enterprise_id: z.string().nullish(),
  is_enterprise_install: z.boolean().nullish(),
  authorizations: z.array(z.object({ is_enterprise_install: z.boolean().nullish() })).nullish(),
  event_time: z.number(),
  event: z.union([
    z.object({ type: z.literal("app_uninstalled") }),
    // The tokens of people do not matter, the bot's does.
    z.object({ type: z.literal("tokens_revoked"), tokens: z.object({ bot: z.array(z.string()).min(1) }) }),
  ]),
});

export const slackInstallations: InstallationRules = {
  isUsed(adapter) {
    const { data } = slackAdapter.safeParse(adapter);
    return data !== undefined && data.defaultBotTokenProvider === undefined;
  },
  current: (adapter) => slackAdapter.parse(adapter).requestContext.getStore()?.installationId,
  async find(adapter, id) {
    if (id === undefined) return undefined;
    const { installationProvider: own } = slackAdapter.parse(adapter);
    const slack = methodsOf(adapter);
    const found = own ? await own.getInstallation(id, isEnterprise(id)) : await slack.getInstallation(id);
    const { botToken: token, botUserId } = installation.parse(found) ?? {};
    if (token === undefined) return undefined;
    // The adapter's own `withBotToken` does not tell who the bot is.
    const as = { token, botUserId, installationId: id };
    return { id, version: token, run: (call) => slack.requestContext.run(as, call) };
  },
  changes(adapter, _headers, body) {
    const { data } = removal.safeParse(body);
    if (data === undefined) return {};
    const { installationKeyPrefix } = slackAdapter.parse(adapter);
    const isOfEnterprise = data.authorizations?.[0]?.is_enterprise_install ?? data.is_enterprise_install;
    const id = isOfEnterprise === true ? data.enterprise_id : data.team_id;
    return {
      removed: typeof id === "string" ? [`${installationKeyPrefix}:${id}`] : [],
      // Slack counts in seconds. A workspace may have installed the app again since.
      before: (data.event_time + 1) * 1000,
    };
  },
  page: (adapter, scopes = SCOPES) => ({
    url: "https://slack.com/oauth/v2/authorize",
    parameters: { client_id: slackAdapter.parse(adapter).clientId ?? "", scope: scopes.join(",") },
  }),
  async finish(adapter, request, redirectUri) {
    await methodsOf(adapter).handleOAuthCallback(request, { redirectUri });
  },
};

/** Returns what the adapter keeps under a key. */
export function slackStateKind(key: string, adapter: Adapter): StateKind | undefined {
  // An event counts as delivered before it is stored, so that a repetition after a failure would be dropped (I1).
  if (key.startsWith("slack:event-delivered:")) return "claim";
  const { data } = slackAdapter.safeParse(adapter);
  return data !== undefined && key.startsWith(`${data.installationKeyPrefix}:`) ? "secret" : undefined;
}

/** An app for several workspaces has a token for each, unless the bot's own code keeps them. */
export function keepsSlackTokens(adapter: Adapter): boolean {
  return slackInstallations.isUsed(adapter) && !slackAdapter.parse(adapter).installationProvider;
}

/** The methods of the adapter, which need it as `this`. */
function methodsOf(adapter: Adapter): z.infer<typeof slackAdapter> {
  slackAdapter.parse(adapter);
  return adapter as unknown as z.infer<typeof slackAdapter>;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
