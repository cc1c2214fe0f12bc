import { describe, expect, it } from "vitest";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { IncomingEvent, PlatformContext } from "../../../src/core/chat/messenger.ts";
import type { Address } from "../../../src/core/chat/surface.ts";

const token = "700001:AAE-secret_part";
const address: Address = { messengerId: "bot", threadId: "telegram:1", chatId: "1", isDirectMessage: true };
const context: PlatformContext = {
  messengerId: "bot",
  deps: systemDeps,
  log: createLog(() => undefined),
  identity: () => Promise.reject(new Error("not needed")),
  root: <Calls extends object>() => ({}) as Calls,
};

function messenger(options: { readonly apiBaseUrl?: string; readonly fetch?: typeof fetch } = {}) {
  return telegramMessenger({ token, secretToken: "s3cret", userName: "support_bot", ...options }).platform;
}

describe("Telegram, in workerd", () => {
  it("checks the secret, routes, stores and parses an update", async () => {
    const platform = messenger();
    const request = new Request("https://bot.example/messengers/telegram/webhook", {
      method: "POST",
      headers: { "X-Telegram-Bot-Api-Secret-Token": "s3cret" },
      body: JSON.stringify({
        update_id: 1,
        message: {
          message_id: 45,
          date: 1_800_000_000,
          chat: { id: 1, type: "private", first_name: "Ada" },
          from: { id: 1, is_bot: false, first_name: "Ada" },
          text: "hello",
        },
      }),
    });
    expect(
      platform.verification.kind === "header" && (await platform.verification.verify(request.headers)),
    ).toBe(true);
    const accepted: IncomingEvent[] = [];
    const response = await platform.receive(request, context, {
      accept: async (events) => void accepted.push(...events),
      ignore: () => undefined,
      findChat: () => undefined,
    });
    expect(response.status).toBe(200);
    const [incoming] = accepted;
    if (incoming === undefined) throw new Error("nothing was stored");
    expect(await platform.parse(incoming, context)).toMatchObject({
      kind: "direct-message",
      message: { text: "hello" },
    });
  });

  it("calls the Bot API through the runtime's own fetch", async () => {
    const bodies: unknown[] = [];
    const surface = messenger({
      fetch: async (input, init) => {
        // A request that the runtime itself would refuse fails here.
        bodies.push(await new Request(input, init).json());
        return Response.json({ ok: true, result: { message_id: 7 } });
      },
    }).surface(context);
    const posted = await surface.post(
      address,
      { text: "hi", entities: [] },
      { signal: AbortSignal.timeout(5000) },
    );
    expect(posted).toEqual({ messageId: "7" });
    expect(bodies).toEqual([
      { chat_id: 1, text: "hi", entities: [], link_preview_options: { is_disabled: true } },
    ]);
  });

  // workerd says the same of a refused and of a cut connection, so that neither may be blindly repeated (I6).
  it("does not know what became of a call whose connection was lost", async () => {
    const surface = messenger({ apiBaseUrl: "http://127.0.0.1:1" }).surface(context);
    const error: unknown = await surface
      .post(address, { text: "hi", entities: [] }, { signal: AbortSignal.timeout(5000) })
      .catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toEqual({ kind: "unknown", code: "connection-lost" });
    expect(`${String(error)}${(error as Error).stack}${JSON.stringify(error)}`).not.toContain("secret_part");
  });

  it("ends a call when its time is over", async () => {
    const surface = messenger({ fetch: () => new Promise(() => undefined) }).surface(context);
    const controller = new AbortController();
    const failing = surface
      .post(address, { text: "hi", entities: [] }, { signal: controller.signal })
      .catch((error: unknown) => surface.classifyError(error));
    controller.abort();
    expect(await failing).toEqual({ kind: "unknown", code: "timed-out" });
  });

  it("reads a file in pieces and stops at the limit", async () => {
    const fileOf = (sizeBytes: number) =>
      messenger({
        fetch: async (input) => {
          const url = input instanceof Request ? input.url : input.toString();
          if (url.endsWith("/getFile"))
            return Response.json({ ok: true, result: { file_id: "f", file_path: "a/b.png" } });
          return new Response(new Blob([new Uint8Array(sizeBytes)]).stream());
        },
      }).fetchAttachment({ fileId: "f" }, context, { maxBytes: 1000, signal: AbortSignal.timeout(5000) });
    const file = await fileOf(1000);
    expect([file.bytes.byteLength, file.mediaType]).toEqual([1000, "image/png"]);
    await expect(fileOf(1001)).rejects.toMatchObject({ code: "attachment-too-large" });
  });
});
