import { z } from "zod";
import { ok, problem } from "../finding.ts";
import { parse, refusal } from "./platform-check.ts";
import type { PlatformCheck } from "./platform-check.ts";
import { signJwt } from "./sign-jwt.ts";

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const HOUR_S = 3600;

const account = z.object({ client_email: z.string(), private_key: z.string() });

/** Asks Google for a token of the service account, as the bot does before each post. */
export const gchat: PlatformCheck = {
  name: "Google Chat",
  tokens: ["GOOGLE_CHAT_CREDENTIALS"],
  needs: { GOOGLE_CHAT_PROJECT_NUMBER: "the Google Cloud console, Dashboard" },
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
      ...(environment.GOOGLE_CHAT_DISABLE_SIGNATURE_VERIFICATION === "true" ? [isOpen()] : []),
    ];
  },
};

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
