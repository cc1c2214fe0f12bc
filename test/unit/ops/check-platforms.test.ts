import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkPlatforms } from "../../../ops/doctor/check-platforms.ts";

const SECRET = "s3cret-of-a-platform";
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

type Answers = (request: Request, body: string) => [number, unknown, Record<string, string>?];

/** Runs the checks against platforms that answer in this way. No finding may repeat a secret. */
async function check(environment: Record<string, string>, answer: Answers, packages: readonly string[] = []) {
  const calls: string[] = [];
  const findings = await checkPlatforms(environment, new Set(packages), async (input, init) => {
    const request = new Request(input, init);
    calls.push(request.url);
    const [status, body, headers = {}] = answer(request, await request.text());
    return Response.json(body, { status, headers });
  });
  expect(JSON.stringify(findings)).not.toContain(SECRET);
  return { calls, findings };
}

const slack = { SLACK_BOT_TOKEN: SECRET, SLACK_SIGNING_SECRET: SECRET };
const discord = { DISCORD_BOT_TOKEN: SECRET, DISCORD_APPLICATION_ID: "7", DISCORD_PUBLIC_KEY: "abc" };
const teams = { TEAMS_APP_PASSWORD: SECRET, TEAMS_APP_ID: "app", TEAMS_APP_TENANT_ID: "tenant" };
const whatsapp = {
  WHATSAPP_ACCESS_TOKEN: SECRET,
  WHATSAPP_APP_SECRET: SECRET,
  WHATSAPP_PHONE_NUMBER_ID: "42",
  WHATSAPP_VERIFY_TOKEN: SECRET,
};
const ADD_ON = "GOOGLE_CHAT_WORKSPACE_ADDON_SERVICE_ACCOUNT_EMAIL";
const ADD_ON_ACCOUNT = "service-1@gcp-sa-gsuiteaddons.iam.gserviceaccount.com";
const gchat = {
  GOOGLE_CHAT_CREDENTIALS: JSON.stringify({ client_email: "bot@example.org", private_key: pem }),
  GOOGLE_CHAT_PROJECT_NUMBER: "1",
};
const github = { GITHUB_TOKEN: SECRET, GITHUB_WEBHOOK_SECRET: SECRET, GITHUB_BOT_USERNAME: "Shop-Bot" };
const app = {
  GITHUB_APP_ID: "9",
  GITHUB_PRIVATE_KEY: pem,
  GITHUB_WEBHOOK_SECRET: SECRET,
  GITHUB_BOT_USERNAME: "tea",
};
const linear = { LINEAR_API_KEY: SECRET, LINEAR_WEBHOOK_SECRET: SECRET, LINEAR_BOT_USERNAME: "tea" };

const everyScope =
  "app_mentions:read,chat:write,channels:history,commands,files:read,files:write,groups:history,im:history,mpim:history,reactions:read,users:read";
const application = { id: "7", name: "Tea", verify_key: "abc", interactions_endpoint_url: "https://x" };
const ofApp = {
  slug: "tea",
  events: ["issue_comment", "pull_request_review_comment"],
  permissions: { issues: "write", pull_requests: "write" },
};

describe("the credentials of a platform", () => {
  it("are not asked about when no token is set", async () => {
    const { calls, findings } = await check({}, () => [500, {}]);
    expect({ calls, findings }).toEqual({ calls: [], findings: [] });
  });

  it.each<[string, Record<string, string>, unknown, Record<string, string>?]>([
    ["Slack", slack, { ok: true, user: "tea", team: "Shop" }, { "x-oauth-scopes": everyScope }],
    ["Discord", discord, application],
    ["Teams", teams, { access_token: "t" }],
    ["WhatsApp", whatsapp, { display_phone_number: "+1 555", verified_name: "Shop" }],
    ["Google Chat", gchat, { access_token: "t" }],
    ["GitHub", github, { login: "shop-bot" }],
    ["GitHub", app, ofApp],
    ["Linear", linear, { data: { viewer: { name: "Tea", displayName: "tea" } } }],
  ])("are right on %s", async (about, environment, body, headers) => {
    const { findings } = await check(environment, () => [200, body, headers]);
    expect(findings).toMatchObject([{ about, status: "ok" }]);
  });

  it.each<[string, Record<string, string>, number, unknown]>([
    ["Slack", slack, 200, { ok: false, error: "invalid_auth" }],
    ["Discord", discord, 401, {}],
    ["Teams", teams, 401, { error: "invalid_client" }],
    ["WhatsApp", whatsapp, 400, { error: { code: 190 } }],
    ["Google Chat", gchat, 400, { error: "invalid_grant" }],
    ["GitHub", github, 401, {}],
    ["GitHub", app, 404, {}],
    ["Linear", linear, 200, { errors: [{ message: "no" }] }],
  ])("are refused by %s", async (about, environment, status, body) => {
    const { findings } = await check(environment, () => [status, body]);
    expect(findings).toMatchObject([
      { about, status: "problem", fix: expect.stringContaining(Object.keys(environment)[0] ?? "") },
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ["Slack", slack],
    ["Discord", discord],
    ["Teams", teams],
    ["WhatsApp", whatsapp],
    ["Google Chat", gchat],
    ["GitHub", github],
    ["Linear", linear],
  ])("are not blamed while %s has a problem", async (about, environment) => {
    const { findings } = await check(environment, () => [503, {}]);
    expect(findings).toMatchObject([{ about, status: "warning" }]);
  });

  it.each<[string, Record<string, string>, string]>([
    ["Slack", slack, "SLACK_SIGNING_SECRET"],
    ["Discord", discord, "DISCORD_PUBLIC_KEY"],
    ["Teams", teams, "TEAMS_APP_TENANT_ID"],
    ["WhatsApp", whatsapp, "WHATSAPP_APP_SECRET"],
    ["Google Chat", gchat, `GOOGLE_CHAT_PROJECT_NUMBER or ${ADD_ON}`],
    ["Linear", linear, "LINEAR_WEBHOOK_SECRET"],
  ])("of %s are not sent while one is missing", async (about, environment, variables) => {
    const none = Object.fromEntries(variables.split(" or ").map((variable) => [variable, ""]));
    const { calls, findings } = await check({ ...environment, ...none }, () => [500, {}]);
    expect(calls).toEqual([]);
    expect(findings).toMatchObject([{ about, status: "problem", message: `${variables} is not set.` }]);
  });

  it.each<[string, Record<string, string>, string]>([
    ["Slack", { SLACK_SIGNING_SECRET: SECRET }, "SLACK_BOT_TOKEN"],
    ["Discord", { DISCORD_PUBLIC_KEY: "abc" }, "DISCORD_BOT_TOKEN"],
    ["Teams", { TEAMS_APP_ID: "app", TEAMS_APP_TENANT_ID: "tenant" }, "TEAMS_APP_PASSWORD"],
    ["WhatsApp", { WHATSAPP_VERIFY_TOKEN: SECRET }, "WHATSAPP_ACCESS_TOKEN"],
    ["Google Chat", { GOOGLE_CHAT_PROJECT_NUMBER: "1" }, "GOOGLE_CHAT_CREDENTIALS"],
    ["Linear", { LINEAR_WEBHOOK_SECRET: SECRET }, "LINEAR_API_KEY or LINEAR_ACCESS_TOKEN"],
  ])("are missed on %s where other variables of it are set", async (about, environment, variables) => {
    const { calls, findings } = await check(environment, () => [500, {}]);
    expect(calls).toEqual([]);
    expect(findings).toMatchObject([
      { about, status: "warning", fix: expect.stringContaining(`Set ${variables} (`) },
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ["Slack", { SLACK_SIGNING_SECRET: SECRET, SLACK_CLIENT_SECRET: SECRET }],
    ["Linear", { LINEAR_WEBHOOK_SECRET: SECRET, LINEAR_CLIENT_SECRET: SECRET }],
    ["Linear", { LINEAR_WEBHOOK_SECRET: SECRET, LINEAR_CLIENT_CREDENTIALS_CLIENT_SECRET: SECRET }],
  ])("come on %s with each installation", async (_about, environment) => {
    const { calls, findings } = await check(environment, () => [500, {}]);
    expect({ calls, findings }).toEqual({ calls: [], findings: [] });
  });

  it("of a shell are not those of a bot", async () => {
    const { calls } = await check({ GITHUB_TOKEN: SECRET }, () => [500, {}]);
    expect(calls).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ["GITHUB_APP_ID", { GITHUB_WEBHOOK_SECRET: SECRET }],
    ["GITHUB_APP_ID", { GITHUB_WEBHOOK_SECRET: SECRET, GITHUB_PRIVATE_KEY: pem }],
    ["GITHUB_PRIVATE_KEY", { GITHUB_WEBHOOK_SECRET: SECRET, GITHUB_APP_ID: "9" }],
    ["GITHUB_WEBHOOK_SECRET", { GITHUB_PRIVATE_KEY: pem }],
    ["GITHUB_WEBHOOK_SECRET", { GITHUB_PRIVATE_KEY: pem, GITHUB_APP_ID: "9" }],
  ])("are missing on GitHub: %s", async (missing, environment) => {
    const { calls, findings } = await check(environment, () => [500, {}]);
    expect(calls).toEqual([]);
    expect(findings.map(({ fix, message }) => `${message} ${fix}`)).toEqual([
      expect.stringContaining(missing),
    ]);
  });

  it.each<[string, string, readonly string[]]>([
    ["slack", "Slack", Object.keys(slack)],
    ["discord", "Discord", Object.keys(discord)],
    ["teams", "Teams", Object.keys(teams)],
    ["whatsapp", "WhatsApp", Object.keys(whatsapp)],
    ["gchat", "Google Chat", [...Object.keys(gchat), ADD_ON]],
    ["github", "GitHub", ["GITHUB_TOKEN", "GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET"]],
    ["linear", "Linear", ["LINEAR_API_KEY", "LINEAR_WEBHOOK_SECRET"]],
  ])("of a bot with the adapter %s are all named while none is set", async (adapter, about, names) => {
    const { calls, findings } = await check({}, () => [500, {}], [`@chat-adapter/${adapter}`]);
    expect(calls).toEqual([]);
    expect(findings).toMatchObject([{ about, status: "warning" }]);
    for (const name of names) expect(findings[0]?.fix).toContain(name);
  });

  it("are those of the user on GitHub, whom the adapter prefers to an App", async () => {
    const { calls } = await check({ ...app, GITHUB_TOKEN: SECRET }, () => [200, { login: "ada" }]);
    expect(calls).toEqual([expect.stringMatching(/\/user$/)]);
  });

  it("are not blamed for a network that does not answer", async () => {
    const findings = await checkPlatforms(linear, new Set(), () => Promise.reject(new Error(SECRET)));
    expect(findings).toEqual([
      expect.objectContaining({ about: "Linear", message: "Linear cannot be reached." }),
    ]);
  });
});

describe("the settings of a platform", () => {
  it("lack scopes on Slack", async () => {
    const { findings } = await check(slack, () => [200, { ok: true }, { "x-oauth-scopes": "chat:write" }]);
    expect(findings).toMatchObject([
      { status: "ok" },
      {
        status: "problem",
        message: "The bot may not hear of mentions.",
        fix: expect.stringContaining("app_mentions:read"),
      },
      { status: "warning", fix: expect.stringContaining("files:read") },
    ]);
  });

  it("are those of another application on Discord, which does not know where the bot is", async () => {
    const other = { ...application, id: "8", verify_key: "xyz", interactions_endpoint_url: null };
    const { findings } = await check(discord, () => [200, other]);
    expect(findings).toMatchObject([
      { status: "ok" },
      { status: "problem", fix: "Set DISCORD_APPLICATION_ID to 8." },
      { status: "problem", fix: "Set DISCORD_PUBLIC_KEY to xyz." },
      { status: "warning", fix: expect.stringContaining("/messengers/discord/webhook") },
    ]);
  });

  it.each<[string, Record<string, string>, object]>([
    [
      ADD_ON_ACCOUNT,
      { PUBLIC_URL: "https://bot.example/" },
      { status: "ok", message: expect.stringContaining("https://bot.example/messengers/gchat/webhook") },
    ],
    [ADD_ON_ACCOUNT, {}, { status: "warning", fix: expect.stringContaining("endpointUrl") }],
    [ADD_ON_ACCOUNT, { PUBLIC_URL: "http://bot.example" }, { status: "problem" }],
    ["bot@example.org", {}, { status: "problem", fix: expect.stringContaining("Configuration") }],
  ])("of an add-on of Google Chat: %s %j", async (email, more, finding) => {
    const { GOOGLE_CHAT_CREDENTIALS } = gchat;
    const addOn = { GOOGLE_CHAT_CREDENTIALS, [ADD_ON]: email, ...more };
    const { findings } = await check(addOn, () => [200, { access_token: "t" }]);
    expect(findings).toMatchObject([{ status: "ok" }, { about: "Google Chat", ...finding }]);
  });

  it.each<[string, Record<string, string>, object, string]>([
    ["GitHub", { ...github, GITHUB_BOT_USERNAME: "" }, { login: "tea" }, "GITHUB_BOT_USERNAME to tea,"],
    ["GitHub", { ...app, GITHUB_BOT_USERNAME: "tea[bot]" }, ofApp, "GITHUB_BOT_USERNAME to tea,"],
    [
      "Linear",
      { ...linear, LINEAR_BOT_USERNAME: "" },
      { data: { viewer: { name: "Tea", displayName: "tea" } } },
      "LINEAR_BOT_USERNAME to tea,",
    ],
  ])("keep the bot on %s from knowing its name", async (about, environment, body, fix) => {
    const { findings } = await check(environment, () => [200, body]);
    expect(findings).toMatchObject([
      { status: "ok" },
      { about, status: "warning", fix: expect.stringContaining(fix) },
    ]);
  });

  it("let everybody write to the bot on Google Chat", async () => {
    const open = { ...gchat, GOOGLE_CHAT_DISABLE_SIGNATURE_VERIFICATION: "true" };
    const { findings } = await check(open, () => [200, { access_token: "t" }]);
    expect(findings).toMatchObject([
      { status: "ok" },
      { status: "problem", fix: expect.stringContaining("GOOGLE_CHAT_DISABLE_SIGNATURE_VERIFICATION") },
    ]);
  });

  it("keep a GitHub App from writing and hearing", async () => {
    const { findings } = await check(app, () => [200, { slug: "tea", events: ["issue_comment"] }]);
    expect(findings).toMatchObject([
      { status: "ok" },
      { status: "warning", fix: expect.stringContaining("write them") },
      { status: "warning", fix: "Subscribe it to pull_request_review_comment." },
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ["GitHub", { ...app, GITHUB_PRIVATE_KEY: SECRET }],
    ["Google Chat", { ...gchat, GOOGLE_CHAT_CREDENTIALS: SECRET }],
  ])("have no key of %s", async (about, environment) => {
    const { calls, findings } = await check(environment, () => [200, {}]);
    expect(calls).toEqual([]);
    expect(findings).toMatchObject([{ about, status: "problem" }]);
  });
});
