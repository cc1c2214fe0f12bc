import { z } from "zod";
import { ok } from "../finding.ts";
import { checkName, refusal } from "./platform-check.ts";
import type { PlatformCheck } from "./platform-check.ts";

const viewer = z.object({
  data: z.object({ viewer: z.object({ name: z.string(), displayName: z.string() }) }),
});

/** Asks who the key belongs to. Linear takes a key as it is, and an OAuth token as a bearer. */
export const linear: PlatformCheck = {
  name: "Linear",
  adapter: "@chat-adapter/linear",
  token: ["LINEAR_API_KEY or LINEAR_ACCESS_TOKEN", "the account's settings, Security & access"],
  installs: ["LINEAR_CLIENT_SECRET", "LINEAR_CLIENT_CREDENTIALS_CLIENT_SECRET"],
  needs: { LINEAR_WEBHOOK_SECRET: "the webhook's page in Linear's API settings" },
  async ask(environment, ask) {
    const key = environment.LINEAR_API_KEY;
    const asked = await ask(environment.LINEAR_API_URL || "https://api.linear.app/graphql", {
      method: "POST",
      headers: {
        authorization: key || `Bearer ${environment.LINEAR_ACCESS_TOKEN}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ query: "query { viewer { name displayName } }" }),
    });
    const { data } = viewer.safeParse(asked.body);
    const status = data === undefined && asked.status < 300 ? 401 : asked.status;
    const refused = refusal("Linear", { status }, key ? "LINEAR_API_KEY" : "LINEAR_ACCESS_TOKEN");
    if (refused !== undefined || data === undefined) return refused === undefined ? [] : [refused];
    const { displayName, name } = data.data.viewer;
    return [
      ok("Linear", `The key belongs to ${name}.`),
      ...checkName(
        "Linear",
        "LINEAR_BOT_USERNAME",
        environment.LINEAR_BOT_USERNAME || "linear-bot",
        displayName,
      ),
    ];
  },
};
