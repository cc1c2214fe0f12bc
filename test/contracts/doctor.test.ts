import { describe, expect, it } from "vitest";
import type { Finding } from "../../ops/doctor/finding.ts";
import { checkPlatforms } from "../../ops/doctor/check-platforms.ts";
import { EmulatorServer } from "./emulator-server.ts";
import { platforms } from "./platforms.ts";
import { variablesOf } from "./variables-of.ts";

type Variables = Readonly<Record<string, string>>;

/** Runs the checks of `doctor` on an emulated platform, with the variables that an owner sets there. */
async function check(platform: string, change: (right: Variables) => Variables): Promise<readonly Finding[]> {
  const emulator = await platforms[platform]?.();
  if (emulator === undefined) throw new Error(`${platform} is not emulated.`);
  const server = await new EmulatorServer(emulator).start();
  try {
    const { PLATFORM_ORIGINS = "{}" } = emulator.env(server.url);
    const origins = JSON.parse(PLATFORM_ORIGINS) as Readonly<Record<string, string>>;
    const findings = await checkPlatforms(
      change(variablesOf(emulator, server.url)),
      new Set(),
      async (input, init) => {
        const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input);
        return fetch(`${origins[origin] ?? origin}${pathname}${search}`, init);
      },
    );
    expect(server.problems).toEqual([]);
    return findings;
  } finally {
    await server.close();
  }
}

describe("doctor", () => {
  it.each(Object.keys(platforms).filter((name) => name !== "Telegram"))(
    "finds nothing wrong with a bot that %s takes",
    async (platform) => {
      const findings = await check(platform, (right) => right);
      expect(findings).toMatchObject([{ about: platform, status: "ok" }]);
    },
  );

  it.each([
    ["Slack", "SLACK_BOT_TOKEN"],
    ["Discord", "DISCORD_BOT_TOKEN"],
    ["Discord", "DISCORD_APPLICATION_ID"],
    ["Discord", "DISCORD_PUBLIC_KEY"],
    ["Teams", "TEAMS_APP_ID"],
    ["Teams", "TEAMS_APP_PASSWORD"],
    ["Teams", "TEAMS_APP_TENANT_ID"],
    ["WhatsApp", "WHATSAPP_ACCESS_TOKEN"],
    ["WhatsApp", "WHATSAPP_PHONE_NUMBER_ID"],
    ["Google Chat", "GOOGLE_CHAT_CREDENTIALS"],
    ["GitHub", "GITHUB_TOKEN"],
    ["GitHub", "GITHUB_BOT_USERNAME"],
    ["Linear", "LINEAR_API_KEY"],
    ["Linear", "LINEAR_BOT_USERNAME"],
  ])("finds out on %s that %s is wrong", async (platform, variable) => {
    const findings = await check(platform, (right) => ({
      ...right,
      [variable]: `${right[variable]}`.replace(/[\w-]+(?=\W*$|@)/, "wrong"),
    }));
    const fixes = findings.filter(({ status }) => status !== "ok").map(({ fix }) => fix);
    expect(fixes).toEqual([expect.stringContaining(variable)]);
  });
});
