import { generateKeyPairSync } from "node:crypto";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createMockLogger } from "@chat-adapter/tests";
import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { cardForms, cardLimits, formatOf } from "../../../../delivery/outbox/card-forms.ts";
import { cardText } from "../../../../delivery/outbox/card-text.ts";
import { rendererOf } from "../../../../delivery/text/render/index.ts";
import { splitText } from "../../../../delivery/text/split/index.ts";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import type { OutgoingButton } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";

const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const MOST_BYTES = 32_000;
const ENDPOINT = "https://bot.example.com/messengers/gchat/webhook";
const address = {
  messengerId: "bot",
  chatId: "gchat:spaces/A",
  threadId: "gchat:spaces/A",
  isDirectMessage: false,
};
const signal = new AbortController().signal;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Posts a card as the delivery does. Returns the messages that Google Chat gets. */
async function posted(
  text: string,
  buttons: readonly OutgoingButton[],
  endpointUrl?: string,
): Promise<readonly { readonly bytes: number; readonly body: string }[]> {
  const bodies: string[] = [];
  vi.stubGlobal("fetch", async (input: string | URL, init?: RequestInit) => {
    if (new URL(input).hostname === "oauth2.googleapis.com") return Response.json({ access_token: "ya29" });
    bodies.push(typeof init?.body === "string" ? init.body : "");
    return Response.json({ name: "spaces/A/messages/M" });
  });
  const adapter = createGoogleChatAdapter({
    credentials: { client_email: "bot@example.org", private_key: privateKey },
    googleChatProjectNumber: "1",
    logger: createMockLogger(),
    ...(endpointUrl !== undefined && { endpointUrl }),
  });
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
  const surface = platform.surface(createPlatformContext({}).context);
  const card = { key: "k", text, buttons: buttons.map((button) => [button]) };
  const { capabilities, rows } = cardForms({ kind: "card", card, ifDeleted: "post" }, surface);
  const format = formatOf(surface, { isCard: true });
  const limits = cardLimits(surface);
  const parts = splitText<RichText>(cardText(card, capabilities), {
    renderer: rendererOf(format, limits.unit),
    limits,
    final: true,
  });
  for (const [index, { content }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    await surface.post(address, { ...content, isCard: true, ...(isLast && { buttons: rows }) }, { signal });
  }
  return bodies.map((body) => ({ body, bytes: new TextEncoder().encode(body).length }));
}

const words = fc.oneof(
  fc.constantFrom("\\", '"', "*", "<", "\u0001", "\t", "\ud800", "é", "漢", "🛒", "\n\n", "a "),
  fc.constantFrom("[a](https://e.com) ", "`x` ", "**b** "),
);
const texts = fc
  .array(words, { minLength: 1, maxLength: 12 })
  .chain((some) => fc.integer({ min: 1, max: 9_000 }).map((times) => `${some.join("").repeat(times)}!`))
  .map((text) => text.slice(0, 34_000));
const labels = fc
  .array(words, { minLength: 1, maxLength: 20 })
  .map((some) => `L${some.join("")}`.slice(0, 64));
const token = `c1.${"k".repeat(22)}.${"b".repeat(10)}`;
const buttonsOf = fc.array(
  fc.oneof(
    labels.map((label): OutgoingButton => ({ kind: "callback", label, token })),
    fc.tuple(labels, fc.integer({ min: 1, max: 2000 })).map(([label, length]): OutgoingButton => ({
      kind: "link",
      label,
      url: `https://e.com/${"p".repeat(length)}`,
    })),
  ),
  { maxLength: 100 },
);

describe("a card on Google Chat", () => {
  it("never has more bytes than a message may have, and keeps all its buttons or numbers", async () => {
    await fc.assert(
      fc.asyncProperty(texts, buttonsOf, fc.boolean(), async (text, buttons, isAddOn) => {
        const messages = await posted(text, buttons, isAddOn ? ENDPOINT : undefined);
        expect(Math.max(...messages.map(({ bytes }) => bytes))).toBeLessThanOrEqual(MOST_BYTES);
        const all = messages.map(({ body }) => body).join();
        const shown = all.split('"onClick"').length - 1;
        const links = buttons.filter(({ kind }) => kind === "link").length;
        expect([buttons.length, 0]).toContain(shown);
        if (shown === 0) expect(all.split("https://e.com/p").length - 1).toBeGreaterThanOrEqual(links);
      }),
      { numRuns: 12 },
    );
  });

  it("has fifty buttons and a short text in one message", async () => {
    const buttons = Array.from({ length: 50 }, (_, index): OutgoingButton => ({
      kind: "callback",
      label: `Forget entry ${index}`,
      token,
    }));
    const messages = await posted("Which ones?", buttons, ENDPOINT);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.body.split('"onClick"')).toHaveLength(51);
  });
});
