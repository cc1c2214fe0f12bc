import { z } from "zod";
import { ok, problem, warning } from "../finding.ts";
import { refusal } from "./platform-check.ts";
import type { PlatformCheck } from "./platform-check.ts";

const application = z.object({
  id: z.string(),
  name: z.string(),
  verify_key: z.string(),
  interactions_endpoint_url: z.string().nullish(),
});

/** https://docs.discord.com/developers/resources/application#get-current-application */
export const discord: PlatformCheck = {
  name: "Discord",
  adapter: "@chat-adapter/discord",
  token: ["DISCORD_BOT_TOKEN", "Bot"],
  needs: {
    DISCORD_APPLICATION_ID: "General Information",
    DISCORD_PUBLIC_KEY: "General Information",
  },
  async ask(environment, ask) {
    const base = environment.DISCORD_API_URL || "https://discord.com/api/v10";
    const asked = await ask(`${base}/applications/@me`, {
      headers: { authorization: `Bot ${environment.DISCORD_BOT_TOKEN}` },
    });
    const refused = refusal("Discord", asked, "DISCORD_BOT_TOKEN");
    if (refused !== undefined) return [refused];
    const { data } = application.safeParse(asked.body);
    if (data === undefined) return [problem("Discord", "Discord answers in an unexpected way.", CHECK_URL)];
    const { id, name, verify_key: key, interactions_endpoint_url: endpoint } = data;
    return [
      ok("Discord", `The token belongs to the application ${name}.`),
      ...(id === environment.DISCORD_APPLICATION_ID
        ? []
        : [
            problem(
              "Discord",
              "The token is of another application.",
              `Set DISCORD_APPLICATION_ID to ${id}.`,
            ),
          ]),
      ...(key === environment.DISCORD_PUBLIC_KEY
        ? []
        : [problem("Discord", "The public key is another one.", `Set DISCORD_PUBLIC_KEY to ${key}.`)]),
      ...(endpoint
        ? []
        : [
            warning(
              "Discord webhook",
              "Discord does not know where the bot is.",
              'Set "Interactions Endpoint URL" under General Information to the bot\'s address with /messengers/discord/webhook.',
            ),
          ]),
    ];
  },
};

const CHECK_URL = "Check DISCORD_API_URL.";
