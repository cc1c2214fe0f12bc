import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createRig, postRequest } from "./rig.ts";
import * as whatsApp from "./whatsapp-webhooks.ts";

/** Everything that reaches the console: nothing should, as the log of the rig is a list. */
function captureConsole(): unknown[] {
  const lines: unknown[] = [];
  for (const level of ["debug", "info", "log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((...words: unknown[]) => void lines.push(words));
  }
  return lines;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** The real adapter, with the logger that it makes itself. */
function createWhatsAppRig() {
  const { accessToken, appSecret, phoneNumberId, verifyToken } = whatsApp;
  return createRig(
    createWhatsAppAdapter({ accessToken, appSecret, phoneNumberId, verifyToken, userName: "shop" }),
  );
}

describe("chatSdkMessenger with @chat-adapter/whatsapp", () => {
  it("stores a text and a picture of one webhook, in order", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const request = whatsApp.messagesRequest(
      whatsApp.text("wamid.1", "I want a lamp"),
      whatsApp.image("wamid.2"),
    );
    const { response, accepted } = await rig.receive(request);
    expect(response.status).toBe(200);
    const [first, second] = await Promise.all(accepted.map(rig.parse));
    expect(first).toMatchObject({
      kind: "direct-message",
      author: { fullName: "Ada Lovelace" },
      message: { id: "wamid.1", text: "I want a lamp", sentAt: 1_799_999_000_000 },
    });
    expect(second?.message).toMatchObject({ id: "wamid.2", attachments: [{ kind: "image" }] });
  });

  it("takes the time of arrival where the webhook has none that can be read", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const message = { ...whatsApp.text("wamid.1", "Hello"), timestamp: "soon" };
    const { response, accepted } = await rig.receive(whatsApp.messagesRequest(message));
    expect(response.status).toBe(200);
    expect(accepted).toHaveLength(1);
    const [event] = await Promise.all(accepted.map(rig.parse));
    expect(event?.message).toMatchObject({ text: "Hello", sentAt: rig.context.deps.clock.now() });
  });

  it.each([
    ["a reaction", () => whatsApp.messagesRequest(whatsApp.reaction("wamid.3")), "ignored: reaction"],
    ["a receipt", whatsApp.deliveredRequest, "ignored: the adapter reported no event (answered 200)"],
    [
      "a message of an unknown type",
      () => whatsApp.messagesRequest(whatsApp.sticker("wamid.4")),
      "ignored: the adapter reported no event (answered 200)",
    ],
    ["a foreign request", () => postRequest("{}"), "refused by the adapter (answered 401)"],
  ])("says in one log line what became of %s", async (_name, request, outcome) => {
    captureConsole();
    const rig = createWhatsAppRig();
    const { accepted } = await rig.receive(request());
    expect(accepted).toEqual([]);
    expect(rig.outcomes()).toEqual([outcome]);
  });

  it("stores a press of a button", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const { accepted } = await rig.receive(whatsApp.messagesRequest(whatsApp.buttonReply("wamid.5")));
    const [press] = await Promise.all(accepted.map(rig.parse));
    expect(press).toMatchObject({ kind: "action", action: { data: "refund" } });
  });

  it("lets the adapter answer the challenge of a handshake, and refuse a wrong token", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const answer = await rig.handshake(whatsApp.challengeRequest(whatsApp.verifyToken));
    expect([answer?.status, await answer?.text()]).toEqual([200, "1158201444"]);
    const refusal = await rig.handshake(whatsApp.challengeRequest("guess"));
    expect([refusal?.status, await refusal?.text()]).toEqual([403, "Forbidden"]);
  });

  it("keeps what the adapter would print out of the console and of the log (I10)", async () => {
    const printed = captureConsole();
    const rig = createWhatsAppRig();
    printed.length = 0;
    const { appSecret } = whatsApp;
    const { createHmac } = await import("node:crypto");
    const broken = '{"text": "my password is psst"';
    const signature = createHmac("sha256", appSecret).update(broken).digest("hex");
    await rig.receive(postRequest(broken, { "x-hub-signature-256": `sha256=${signature}` }));
    await rig.handshake(whatsApp.challengeRequest("guessed-t0ken"));
    expect(printed).toEqual([]);
    expect(rig.log.join()).toContain('"about":"whatsapp webhook invalid json"');
    expect(rig.log.join()).not.toMatch(/psst|password|t0ken|s3cret/);
  });
});
