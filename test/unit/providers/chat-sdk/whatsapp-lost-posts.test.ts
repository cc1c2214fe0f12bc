import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Address } from "../../../../src/core/chat/surface.ts";
import { createRig } from "./rig.ts";
import * as whatsApp from "./whatsapp-webhooks.ts";

const KEY = "k3y0000000000000000000aa";
const threadId = `whatsapp:${whatsApp.phoneNumberId}:15551234567`;
const address: Address = { messengerId: "bot", chatId: threadId, threadId, isDirectMessage: true };
const options = () => ({ signal: new AbortController().signal });

let bodies: unknown[];
beforeEach(() => {
  bodies = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_input, init) => {
    bodies.push(JSON.parse(typeof init?.body === "string" ? init.body : "{}"));
    return Response.json({ messages: [{ id: "wamid.1" }], success: true });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

function rigOf() {
  const { accessToken, appSecret, phoneNumberId, verifyToken } = whatsApp;
  const rig = createRig(
    createWhatsAppAdapter({ accessToken, appSecret, phoneNumberId, verifyToken, userName: "shop" }),
  );
  return { rig, surface: rig.platform.surface(rig.context) };
}

const statusOf = (status: string, key: string): Request =>
  whatsApp.whatsAppRequest({
    statuses: [
      {
        id: "wamid.1",
        recipient_id: "15551234567",
        status,
        timestamp: "1799999001",
        biz_opaque_callback_data: key,
      },
    ],
  });

const lost = { key: KEY, since: 0, until: 1, isText: () => true, isOther: () => false };

it("sends the key of a post with it, and none with other calls", async () => {
  const { surface } = rigOf();
  await surface.post(address, { text: "hello", entities: [], key: KEY }, options());
  await surface.post(address, { text: "hello", entities: [] }, options());
  expect(bodies).toEqual([
    expect.objectContaining({ biz_opaque_callback_data: KEY }),
    expect.not.objectContaining({ biz_opaque_callback_data: expect.anything() as unknown }),
  ]);
});

it.each(["sent", "delivered", "read", "failed"])(
  "finds a lost post by a status that WhatsApp reports with its key: %s",
  async (status) => {
    const { rig, surface } = rigOf();
    expect(await surface.search?.find(address, lost, options())).toBe("undecided");
    await rig.receive(statusOf(status, "another"));
    expect(await surface.search?.find(address, lost, options())).toBe("undecided");
    const { accepted, response } = await rig.receive(statusOf(status, KEY));
    expect([response.status, accepted]).toEqual([200, []]);
    expect(await surface.search?.find(address, lost, options())).toEqual([{ messageId: "wamid.1" }]);
  },
);
