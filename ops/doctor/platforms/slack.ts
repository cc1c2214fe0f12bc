import { z } from "zod";
import { ok, problem, warning } from "../finding.ts";
import { inWords, refusal } from "./platform-check.ts";
import type { PlatformCheck } from "./platform-check.ts";

/** Scopes without which a bot hears or says nothing. */
const NEEDED = ["app_mentions:read", "chat:write"];
/** Scopes for private chats, follow-ups in threads, files, reactions and commands. */
const USEFUL = [
  "channels:history",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "im:history",
  "mpim:history",
  "reactions:read",
  "users:read",
];

const answer = z.object({ ok: z.boolean(), team: z.string().optional(), user: z.string().optional() });

/** https://docs.slack.dev/reference/methods/auth.test, whose answer has the token's scopes in a header. */
export const slack: PlatformCheck = {
  name: "Slack",
  adapter: "@chat-adapter/slack",
  token: ["SLACK_BOT_TOKEN", "OAuth & Permissions"],
  installs: ["SLACK_CLIENT_SECRET"],
  needs: { SLACK_SIGNING_SECRET: "Basic Information, App Credentials" },
  async ask(environment, ask) {
    const base = (environment.SLACK_API_URL || "https://slack.com/api").replace(/\/+$/, "");
    const asked = await ask(`${base}/auth.test`, {
      method: "POST",
      headers: { authorization: `Bearer ${environment.SLACK_BOT_TOKEN}` },
    });
    const { data } = answer.safeParse(asked.body);
    const refused = refusal("Slack", data?.ok === false ? { status: 401 } : asked, "SLACK_BOT_TOKEN");
    if (refused !== undefined) return [refused];
    const has = new Set((asked.headers.get("x-oauth-scopes") ?? "").split(/\s*,\s*/));
    const missing = NEEDED.filter((scope) => !has.has(scope));
    const lacking = USEFUL.filter((scope) => !has.has(scope));
    const where = 'under "OAuth & Permissions", and install the app again';
    return [
      ok("Slack", `The token belongs to ${data?.user ?? "a bot"} in ${data?.team ?? "a workspace"}.`),
      ...(missing.length > 0
        ? [problem("Slack scopes", `The bot may not ${words(missing)}.`, `Add ${inWords(missing)} ${where}.`)]
        : []),
      ...(lacking.length > 0
        ? [
            warning(
              "Slack scopes",
              `Some things will not work without further scopes.`,
              `Add those of ${inWords(lacking)} that the bot should use, ${where}.`,
            ),
          ]
        : []),
    ];
  },
};

function words(missing: readonly string[]): string {
  return inWords(missing.map((scope) => (scope === "chat:write" ? "write" : "hear of mentions")));
}
