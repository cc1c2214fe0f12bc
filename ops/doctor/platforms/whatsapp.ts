import { z } from "zod";
import { ok, warning } from "../finding.ts";
import { refusal } from "./platform-check.ts";
import type { PlatformCheck } from "./platform-check.ts";

const number = z.object({
  display_phone_number: z.string().optional(),
  verified_name: z.string().optional(),
  quality_rating: z.string().optional(),
});

/** The Cloud API's node of the phone number. */
export const whatsapp: PlatformCheck = {
  name: "WhatsApp",
  adapter: "@chat-adapter/whatsapp",
  token: ["WHATSAPP_ACCESS_TOKEN", "a system user of the business"],
  needs: {
    WHATSAPP_APP_SECRET: "the app's Settings, Basic",
    WHATSAPP_PHONE_NUMBER_ID: "WhatsApp, API Setup",
    WHATSAPP_VERIFY_TOKEN: "a value of your own, which you also give to Meta with the webhook",
  },
  async ask(environment, ask) {
    const base = (environment.WHATSAPP_API_URL || "https://graph.facebook.com").replace(/\/+$/, "");
    const id = encodeURIComponent(environment.WHATSAPP_PHONE_NUMBER_ID ?? "");
    const asked = await ask(`${base}/v25.0/${id}?fields=display_phone_number,verified_name,quality_rating`, {
      headers: { authorization: `Bearer ${environment.WHATSAPP_ACCESS_TOKEN}` },
    });
    const refused = refusal("WhatsApp", asked, "WHATSAPP_ACCESS_TOKEN and WHATSAPP_PHONE_NUMBER_ID");
    if (refused !== undefined) return [refused];
    const {
      display_phone_number: shown,
      quality_rating: quality,
      verified_name: name,
    } = number.safeParse(asked.body).data ?? {};
    return [
      ok("WhatsApp", `The token opens the number ${shown ?? id}${name === undefined ? "" : ` of ${name}`}.`),
      ...(quality === "RED"
        ? [
            warning(
              "WhatsApp",
              "Many people have blocked or reported the number.",
              "Meta may limit it. Send fewer messages that nobody asked for.",
            ),
          ]
        : []),
    ];
  },
};
