import { afterAll, beforeAll, expect, it } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { OutgoingContent } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformStub, realAdapters, startPlatformStub } from "./platform-stub.ts";

let stub: PlatformStub;

beforeAll(async () => {
  stub = await startPlatformStub();
});
afterAll(async () => {
  await stub.close();
});

async function edited(content: OutgoingContent): Promise<unknown> {
  const { adapter, chatId, messageId, threadId } = realAdapters.discord(stub.url);
  const surface = chatSdkMessenger({ adapter, verifyWebhook: false }).platform.surface(
    createPlatformContext({}).context,
  );
  stub.answer({ status: 200, body: { id: messageId } });
  const address = { messengerId: "bot", chatId, threadId, isDirectMessage: false };
  await surface.edit(address, messageId, content, { signal: new AbortController().signal });
  return JSON.parse(stub.bodies.at(-1) ?? "");
}

it("takes the buttons of a card away, which Discord keeps if an edit does not name them", async () => {
  expect(await edited({ text: "Approved.", entities: [], isCard: true })).toMatchObject({
    embeds: [{ description: "Approved." }],
    components: [],
  });
});

it("keeps the buttons that a card has", async () => {
  const buttons = [[{ kind: "callback", label: "Yes", token: "c1.k.b" }]] as const;
  expect(await edited({ text: "Sure?", entities: [], isCard: true, buttons })).toMatchObject({
    components: [{ components: [{ label: "Yes", custom_id: "c1.k.b" }] }],
  });
});
