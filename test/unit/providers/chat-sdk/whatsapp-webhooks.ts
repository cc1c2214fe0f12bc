import { createHmac } from "node:crypto";
import { postRequest } from "./rig.ts";

export const appSecret = "app-s3cret";
export const verifyToken = "verify-t0ken";
export const accessToken = "EAAG-access-token";
export const phoneNumberId = "106540352242922";
const adaWaId = "15551234567";

/** A webhook as WhatsApp's Cloud API sends it, with its signature. */
export function whatsAppRequest(value: object): Request {
  const body = JSON.stringify({
    object: "whatsapp_business_account",
    entry: [
      {
        id: "102290129340398",
        changes: [
          {
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: "15550783881", phone_number_id: phoneNumberId },
              ...value,
            },
            field: "messages",
          },
        ],
      },
    ],
  });
  const signature = createHmac("sha256", appSecret).update(body).digest("hex");
  return postRequest(body, {
    "content-type": "application/json",
    "x-hub-signature-256": `sha256=${signature}`,
  });
}

/** A webhook with messages that Ada sent. */
export function messagesRequest(...messages: readonly object[]): Request {
  return whatsAppRequest({
    contacts: [{ profile: { name: "Ada Lovelace" }, wa_id: adaWaId }],
    messages: messages.map((message) => ({ from: adaWaId, timestamp: "1799999000", ...message })),
  });
}

export const text = (id: string, body: string): object => ({ id, type: "text", text: { body } });

export const image = (id: string): object => ({
  id,
  type: "image",
  image: { id: "2754859441498128", mime_type: "image/jpeg", sha256: "LNi1", caption: "like this one" },
});

export const reaction = (id: string): object => ({
  id,
  type: "reaction",
  reaction: { message_id: "wamid.1", emoji: "👍" },
});

export const buttonReply = (id: string): object => ({
  id,
  context: { from: "15550783881", id: "wamid.BOT" },
  type: "interactive",
  interactive: { type: "button_reply", button_reply: { id: "refund", title: "Refund it" } },
});

export const sticker = (id: string): object => ({
  id,
  type: "unsupported",
  errors: [{ code: 131_051, title: "Message type unknown" }],
});

/** A receipt of a message that the bot sent. */
export const deliveredRequest = (): Request =>
  whatsAppRequest({
    statuses: [
      {
        id: "wamid.BOT",
        recipient_id: adaWaId,
        status: "delivered",
        timestamp: "1799999001",
        conversation: { id: "CONV", origin: { type: "service" } },
        pricing: { billable: true, category: "service", pricing_model: "CBP" },
      },
    ],
  });

/** A report that a message of the bot was accepted and then not delivered. */
export const failedRequest = (
  code: number,
  sentAtSeconds = 1_800_000_000,
  recipient: object = { recipient_id: adaWaId },
): Request =>
  whatsAppRequest({
    statuses: [
      {
        id: "wamid.BOT",
        ...recipient,
        status: "failed",
        timestamp: String(sentAtSeconds),
        errors: [
          {
            code,
            title: "Re-engagement message",
            message: "Re-engagement message",
            error_data: { details: "More than 24 hours have passed since the customer last replied." },
            href: "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
          },
        ],
      },
    ],
  });

/** The request with which Meta asks whether the webhook is the bot's. */
export function challengeRequest(token: string): Request {
  const query = new URLSearchParams({
    "hub.mode": "subscribe",
    "hub.verify_token": token,
    "hub.challenge": "1158201444",
  });
  return new Request(`https://bot.example/webhook?${query.toString()}`);
}
