import { createHmac, randomUUID } from "node:crypto";
import type { Webhook } from "../platform-emulator.ts";

/**
 * Makes a delivery as GitHub's "Validating webhook deliveries" and "Webhook events and payloads" describe it. A
 * redelivery has the same `X-GitHub-Delivery`.
 */
export function githubWebhook(event: string, payload: object, secret: string, appId?: number): Webhook {
  const body = JSON.stringify(payload);
  const headers = {
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/044aadd",
    "x-github-delivery": randomUUID(),
    "x-github-event": event,
    "x-github-hook-id": "292430182",
    "x-github-hook-installation-target-id": String(appId ?? 79_929_171),
    "x-github-hook-installation-target-type": appId === undefined ? "repository" : "integration",
    "x-hub-signature": `sha1=${createHmac("sha1", secret).update(body).digest("hex")}`,
    "x-hub-signature-256": githubSignature(body, secret),
  };
  return { request: (url) => new Request(url, { method: "POST", headers, body }) };
}

export function githubSignature(body: string, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}
