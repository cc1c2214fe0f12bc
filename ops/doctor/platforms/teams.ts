import { ok } from "../finding.ts";
import { refusal } from "./platform-check.ts";
import type { PlatformCheck } from "./platform-check.ts";

/** Asks Microsoft for a token of the Bot Connector, as the bot does before each post. */
export const teams: PlatformCheck = {
  name: "Teams",
  adapter: "@chat-adapter/teams",
  token: ["TEAMS_APP_PASSWORD", "a client secret of the Azure Bot's app"],
  needs: {
    TEAMS_APP_ID: "the Azure Bot's Configuration",
    TEAMS_APP_TENANT_ID: "the Azure Bot's Configuration",
  },
  async ask(environment, ask) {
    const tenant = encodeURIComponent(environment.TEAMS_APP_TENANT_ID ?? "");
    const asked = await ask(`https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: environment.TEAMS_APP_ID ?? "",
        client_secret: environment.TEAMS_APP_PASSWORD ?? "",
        scope: "https://api.botframework.com/.default",
      }),
    });
    const refused = refusal("Teams", asked, "TEAMS_APP_ID, TEAMS_APP_PASSWORD and TEAMS_APP_TENANT_ID");
    return [refused ?? ok("Teams", "Microsoft gives the bot a token.")];
  },
};
