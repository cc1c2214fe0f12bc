import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkPlatforms } from "../../../ops/doctor/check-platforms.ts";
import { bindingNames } from "../../../ops/serve/environment.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

const PAGES = {
  discord: "discord",
  github: "github",
  gchat: "google-chat",
  linear: "linear",
  slack: "slack",
  teams: "teams",
  whatsapp: "whatsapp",
};

describe.each(Object.entries(PAGES))("the page of %s", (adapter, name) => {
  const page = read(`docs/platforms/${name}.md`);
  const named = [...new Set(page.match(/\b(?:[A-Z]+_){1,9}[A-Z]+\b/g))];

  it("names variables that reach the bot", () => {
    expect(named.length).toBeGreaterThan(1);
    expect(bindingNames(Object.fromEntries(named.map((variable) => [variable, "x"])), [])).toEqual(
      named.toSorted(),
    );
  });

  it("names every variable that doctor misses in a new bot", async () => {
    const [finding] = await checkPlatforms({}, new Set([`@chat-adapter/${adapter}`]));
    const missed = finding?.fix?.match(/\b(?:[A-Z]+_){1,9}[A-Z]+\b/g) ?? [];
    // It need not name the other kind of credentials.
    expect(
      missed.filter((variable) => !named.includes(variable) && variable !== "LINEAR_ACCESS_TOKEN"),
    ).toEqual([]);
  });

  it("has the address at which the bot hears of messages", () => {
    const addresses = new Set(page.match(/https:\/\/bot\.example\.com\/[\w/-]*/g));
    expect([...addresses]).toEqual([`https://bot.example.com/messengers/${adapter}/webhook`]);
  });
});

it("asks on Slack for the scopes that doctor looks for", async () => {
  const [, scopes = ""] = /bot: \[([^\]]+)\]/.exec(read("docs/platforms/slack.md")) ?? [];
  const findings = await checkPlatforms(
    { SLACK_BOT_TOKEN: "t", SLACK_SIGNING_SECRET: "s" },
    new Set(),
    async () => Response.json({ ok: true }, { headers: { "x-oauth-scopes": scopes } }),
  );
  expect(findings).toMatchObject([{ status: "ok" }]);
});

it("asks Meta in the version of its API that the adapter uses", async () => {
  const adapter = read("node_modules/@chat-adapter/whatsapp/dist/index.js");
  const [, version = ""] = /DEFAULT_API_VERSION = "(v\d+\.0)"/.exec(adapter) ?? [];
  const asked: string[] = [];
  const names = ["ACCESS_TOKEN", "APP_SECRET", "PHONE_NUMBER_ID", "VERIFY_TOKEN"];
  const set = Object.fromEntries(names.map((name) => [`WHATSAPP_${name}`, "x"]));
  await checkPlatforms(set, new Set(), async (input) => {
    asked.push(new URL(input instanceof Request ? input.url : input).pathname);
    return Response.json({});
  });
  expect(asked).toEqual([`/${version}/x`]);
});
