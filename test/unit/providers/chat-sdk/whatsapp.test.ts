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

  it.each([
    ["message", whatsApp.text("wamid.6", "Lunch?")],
    ["press", whatsApp.buttonReply("wamid.7")],
    ["reaction", whatsApp.reaction("wamid.8")],
  ])("leaves a %s of a group alone, which is not its author's private chat", async (_what, message) => {
    captureConsole();
    const { accessToken, appSecret, phoneNumberId, verifyToken } = whatsApp;
    const rig = createRig(
      createWhatsAppAdapter({ accessToken, appSecret, phoneNumberId, verifyToken, userName: "shop" }),
      { reactions: true },
    );
    const ofGroup = { ...message, group_id: "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD" };
    const { accepted, response } = await rig.receive(whatsApp.messagesRequest(ofGroup));
    expect([response.status, accepted, rig.outcomes()]).toEqual([200, [], ["ignored: unknown place"]]);
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

describe("the sign of typing", () => {
  it("is shown below the newest message of the person, and not before there is one", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const bodies: unknown[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
      bodies.push(await new Request(url, init).json());
      return Response.json({ success: true });
    });
    const threadId = `whatsapp:${whatsApp.phoneNumberId}:15551234567`;
    const address = { messengerId: "whatsapp", threadId, chatId: threadId, isDirectMessage: true };
    const surface = rig.platform.surface(rig.context);
    const { signal } = new AbortController();
    await surface.typing(address, { signal });
    const { accepted } = await rig.receive(
      whatsApp.messagesRequest(whatsApp.text("wamid.1", "One"), whatsApp.text("wamid.2", "Two")),
    );
    for (const incoming of accepted) await rig.parse(incoming);
    await surface.typing(address, { signal });
    expect(bodies).toEqual([
      {
        messaging_product: "whatsapp",
        status: "read",
        message_id: "wamid.2",
        typing_indicator: { type: "text" },
      },
    ]);
  });
});

describe("a message that WhatsApp accepts and does not deliver", () => {
  const warnings = (log: readonly string[]): unknown[] =>
    log
      .map((line) => JSON.parse(line) as { readonly event?: string; readonly code?: string })
      .filter(({ event }) => event === "chat-sdk.not-delivered")
      .map(({ code }) => code);

  it("tells it of a person who hides the phone number behind a user name", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const recipient = { recipient_user_id: "US.13491208655302741918" };
    const { accepted } = await rig.receive(whatsApp.failedRequest(131_047, undefined, recipient));
    expect(warnings(rig.log)).toEqual(["window-closed"]);
    expect(accepted.map(({ thread }) => thread.id)).toEqual([
      `whatsapp:${whatsApp.phoneNumberId}:US.13491208655302741918`,
    ]);
  });

  it.each([
    [131_047, "window-closed"],
    [131_026, "recipient-unreachable"],
  ])("tells the owner, and that nothing arrives until the person writes: %d", async (code, goneCode) => {
    captureConsole();
    const rig = createWhatsAppRig();
    const { response, accepted } = await rig.receive(whatsApp.failedRequest(code));
    expect(response.status).toBe(200);
    expect(warnings(rig.log)).toEqual([goneCode]);
    const [incoming] = accepted;
    if (incoming === undefined) throw new Error("Nothing was accepted.");
    const chatId = `whatsapp:${whatsApp.phoneNumberId}:15551234567`;
    expect(incoming.thread).toEqual({ id: chatId, chatId, isDirectMessage: true });
    expect(rig.platform.describeChat?.(incoming)).toEqual({ kind: "private", isReachable: false, goneCode });
    expect(await rig.parse(incoming)).toMatchObject({ kind: "service" });
  });

  it("says nothing of a chat if it was for a group", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const recipient = { recipient_id: "Y2FwaV9ncm91cDox", recipient_type: "group" };
    const { accepted } = await rig.receive(whatsApp.failedRequest(131_026, undefined, recipient));
    expect([accepted, warnings(rig.log)]).toEqual([[], []]);
  });

  it("has the same key each time that it is told", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const keys = [];
    for (let time = 0; time < 2; time += 1) {
      const { accepted } = await rig.receive(whatsApp.failedRequest(131_047));
      keys.push(accepted[0]?.key);
    }
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ["another failure", (): Request => whatsApp.failedRequest(131_053), "131053"],
    ["an old report", (): Request => whatsApp.failedRequest(131_047, 1_799_990_000), "window-closed"],
  ])("is only logged: %s", async (_what, request, code) => {
    captureConsole();
    const rig = createWhatsAppRig();
    const { accepted } = await rig.receive(request());
    expect(accepted).toEqual([]);
    expect(warnings(rig.log)).toEqual([code]);
  });

  it("is not read from a request that WhatsApp has not signed", async () => {
    captureConsole();
    const rig = createWhatsAppRig();
    const signed = whatsApp.failedRequest(131_047);
    const forged = postRequest(await signed.text(), { "x-hub-signature-256": "sha256=00" });
    const { accepted, response } = await rig.receive(forged);
    expect(response.status).toBe(401);
    expect(accepted).toEqual([]);
    expect(warnings(rig.log)).toEqual([]);
  });
});
