import { z } from "zod";
import { ok, problem, warning } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { parse, refusal } from "./platform-check.ts";
import type { Environment, PlatformCheck } from "./platform-check.ts";
import { signJwt } from "./sign-jwt.ts";

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const HOUR_S = 3600;

/** The account that signs the requests to an add-on. */
const ADD_ON = "GOOGLE_CHAT_WORKSPACE_ADDON_SERVICE_ACCOUNT_EMAIL";
const ADD_ON_ACCOUNT = /^service-\d+@gcp-sa-gsuiteaddons\.iam\.gserviceaccount\.com$/;

const account = z.object({ client_email: z.string(), private_key: z.string() });

/** Asks Google for a token of the service account, as the bot does before each post. */
export const gchat: PlatformCheck = {
  name: "Google Chat",
  adapter: "@chat-adapter/gchat",
  token: ["GOOGLE_CHAT_CREDENTIALS", "a JSON key of a service account"],
  needs: {
    [`GOOGLE_CHAT_PROJECT_NUMBER or ${ADD_ON}`]:
      "the Google Cloud console, Dashboard; of an add-on the Google Chat API's Configuration",
  },
  async ask(environment, ask) {
    const { data } = z
      .preprocess((text) => parse(String(text)), account)
      .safeParse(environment.GOOGLE_CHAT_CREDENTIALS);
    if (data === undefined) return [notAKey()];
    const now = Math.floor(Date.now() / 1000);
    let assertion: string;
    try {
      assertion = signJwt(
        {
          iss: data.client_email,
          scope: "https://www.googleapis.com/auth/chat.bot",
          aud: TOKEN_URL,
          iat: now,
          exp: now + HOUR_S,
        },
        data.private_key,
      );
    } catch {
      return [notAKey()];
    }
    const asked = await ask(TOKEN_URL, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }),
    });
    const refused = refusal("Google Chat", asked, "GOOGLE_CHAT_CREDENTIALS");
    return [
      refused ?? ok("Google Chat", `Google gives ${data.client_email} a token.`),
      ...(environment[ADD_ON] ? [checkAddOn(environment[ADD_ON], environment)] : []),
      ...(environment.GOOGLE_CHAT_DISABLE_SIGNATURE_VERIFICATION === "true" ? [isOpen()] : []),
    ];
  },
};

/** An add-on's requests name the address of the webhook, which the adapter must know. */
function checkAddOn(email: string, { PUBLIC_URL }: Environment): Finding {
  if (!ADD_ON_ACCOUNT.test(email))
    return problem(
      "Google Chat",
      `${ADD_ON} is not the account of a Google Workspace add-on.`,
      "Copy the service account's e-mail from the Google Chat API's Configuration. Leave the variable out for any other app.",
    );
  if (!PUBLIC_URL)
    return warning(
      "Google Chat",
      "PUBLIC_URL is not set, so the address that an add-on calls is not known.",
      "Set it, such as https://bot.example.com, unless the bot's code gives the adapter its `endpointUrl`.",
    );
  if (!PUBLIC_URL.startsWith("https://"))
    return problem("Google Chat", "PUBLIC_URL has no https.", "Set it to an address that Google can call.");
  const url = `${PUBLIC_URL.replace(/\/+$/, "")}/messengers/gchat/webhook`;
  return ok(
    "Google Chat",
    `The add-on's HTTP endpoint URL must be exactly ${url}, if the messenger is gchat.`,
  );
}

function notAKey() {
  return problem(
    "Google Chat",
    "GOOGLE_CHAT_CREDENTIALS is not the key of a service account.",
    "Make a key in JSON form in the Google Cloud console, and put the whole file into the variable, in one line.",
  );
}

function isOpen() {
  return problem(
    "Google Chat",
    "Anybody can write to the bot in the name of anybody.",
    "Delete GOOGLE_CHAT_DISABLE_SIGNATURE_VERIFICATION.",
  );
}
