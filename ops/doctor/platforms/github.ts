import { z } from "zod";
import { ok, problem, warning } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { checkName, inWords, refusal } from "./platform-check.ts";
import type { Ask, Environment, PlatformCheck } from "./platform-check.ts";
import { signJwt } from "./sign-jwt.ts";

/** Events of comments, without which the bot hears nothing. */
const EVENTS = ["issue_comment", "pull_request_review_comment"];
const WRITES = ["issues", "pull_requests"];

const user = z.object({ login: z.string() });
const app = z.object({
  slug: z.string(),
  events: z.array(z.string()).default([]),
  permissions: z.record(z.string(), z.string()).default({}),
});

/** https://docs.github.com/rest/apps/apps#get-the-authenticated-app, or the user of a personal access token. */
export const github: PlatformCheck = {
  name: "GitHub",
  adapter: "@chat-adapter/github",
  token: ["GITHUB_TOKEN or GITHUB_APP_ID", "the account's developer settings"],
  needs: {
    "GITHUB_TOKEN or GITHUB_PRIVATE_KEY": "the App's settings",
    GITHUB_WEBHOOK_SECRET: "a value of your own, which the webhook gets, too",
  },
  async ask(environment, ask) {
    const base = (environment.GITHUB_API_URL || "https://api.github.com").replace(/\/+$/, "");
    const { GITHUB_TOKEN } = environment;
    // The adapter uses a token before it uses an App.
    if (!GITHUB_TOKEN) return askAsApp(environment, base, ask);
    const asked = await ask(`${base}/user`, headers(GITHUB_TOKEN));
    const refused = refusal("GitHub", asked, "GITHUB_TOKEN");
    if (refused !== undefined) return [refused];
    const { data } = user.safeParse(asked.body);
    if (data === undefined) return [problem("GitHub", "GitHub answers in an unexpected way.", CHECK_URL)];
    return [
      ok("GitHub", `The token belongs to ${data.login}, who writes the bot's comments.`),
      ...mentioned(environment, data.login),
    ];
  },
};

async function askAsApp(environment: Environment, base: string, ask: Ask): Promise<readonly Finding[]> {
  const now = Math.floor(Date.now() / 1000);
  let token: string;
  try {
    // GitHub takes at most ten minutes, and clocks may differ.
    const claims = { iss: environment.GITHUB_APP_ID, iat: now - 60, exp: now + 300 };
    token = signJwt(claims, environment.GITHUB_PRIVATE_KEY ?? "");
  } catch {
    return [
      problem(
        "GitHub",
        "GITHUB_PRIVATE_KEY is not a private key.",
        "Generate one in the App's settings, and put the whole PEM file into the variable.",
      ),
    ];
  }
  const asked = await ask(`${base}/app`, headers(token));
  const refused = refusal("GitHub", asked, "GITHUB_APP_ID and GITHUB_PRIVATE_KEY");
  if (refused !== undefined) return [refused];
  const { data } = app.safeParse(asked.body);
  if (data === undefined) return [problem("GitHub", "GitHub answers in an unexpected way.", CHECK_URL)];
  const events = EVENTS.filter((event) => !data.events.includes(event));
  const rights = WRITES.filter((name) => data.permissions[name] !== "write");
  return [
    ok("GitHub", `The key belongs to the App ${data.slug}.`),
    ...mentioned(environment, data.slug),
    ...(rights.length > 0
      ? [
          warning(
            "GitHub",
            `The App may not write ${inWords(rights)}.`,
            `Give it the permission to write them.`,
          ),
        ]
      : []),
    ...(events.length > 0
      ? [warning("GitHub", "The App does not hear of all comments.", `Subscribe it to ${inWords(events)}.`)]
      : []),
  ];
}

const CHECK_URL = "Check GITHUB_API_URL.";

function mentioned({ GITHUB_BOT_USERNAME }: Environment, name: string): readonly Finding[] {
  return checkName("GitHub", "GITHUB_BOT_USERNAME", GITHUB_BOT_USERNAME || "github-bot", name);
}

function headers(token: string): RequestInit {
  return {
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "user-agent": "switchboard",
    },
  };
}
