import { afterEach, describe, expect, it } from "vitest";
import { startSimulator, type Simulator } from "../../../playground/telegram/simulator.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { FileKind } from "../../../src/core/message/content.ts";
import type { Address, MediaSource, OutgoingMedia, Surface } from "../../../src/core/chat/surface.ts";
import { refusalFailure } from "../../../providers/telegram/call-error.ts";
import { createPlatformContext } from "./platform-context.ts";

const open: Simulator[] = [];
afterEach(async () => {
  for (const simulator of open.splice(0)) await simulator.close();
});

async function createChat() {
  const simulator = await startSimulator();
  open.push(simulator);
  const { platform } = telegramMessenger({
    token: simulator.token,
    secretToken: "s3cret",
    userName: "support_bot",
    apiBaseUrl: simulator.url,
    fetch: (input, init) => systemDeps.fetch(input, init),
  });
  const { context } = createPlatformContext({ identity: () => Promise.reject(new Error("not needed")) });
  const user = simulator.addUser();
  const chat = simulator.privateChat(user);
  const address: Address = {
    messengerId: "telegram",
    threadId: `telegram:${chat.id}`,
    chatId: String(chat.id),
    isDirectMessage: true,
  };
  const { surface } = { surface: platform.surface(context) };
  return {
    simulator,
    user,
    chat,
    address,
    surface,
    options: {
      signal: AbortSignal.timeout(10_000),
      openFile: (): ReadableStream<Uint8Array> => new Blob([png]).stream(),
    },
  };
}

const png = Uint8Array.from(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);

function bytesSource(bytes: Uint8Array): MediaSource {
  return { kind: "bytes", hash: "png", sizeBytes: bytes.length };
}

function media(kind: FileKind, source = bytesSource(png), more: Partial<OutgoingMedia> = {}): OutgoingMedia {
  const mediaType = kind === "photo" ? "image/png" : "application/octet-stream";
  return { kind, name: `a.${kind}`, mediaType, source, ...more };
}

const plain = (text: string) => ({ text, entities: [] });

describe("posting a file", () => {
  it.each<FileKind>(["photo", "document", "audio", "voice", "video", "animation"])(
    "sends a %s, whose bytes arrive unchanged, and again by its id",
    async (kind) => {
      const { address, chat, options, simulator, surface } = await createChat();
      const posted = await surface.post(address, { ...plain("Look"), files: [media(kind)] }, options);
      const [fileId] = posted.fileIds ?? [];
      if (fileId === undefined) throw new Error("no file id");
      const again: MediaSource = { kind: "platform", fileId };
      await surface.post(address, { ...plain(""), files: [media(kind, again)] }, options);
      const messages = simulator.messages(chat);
      expect(messages.map(({ text }) => text)).toEqual(["Look", ""]);
      expect(messages.map(({ attachments }) => attachments.map((one) => one.kind))).toEqual([[kind], [kind]]);
      expect(messages.map(({ attachments }) => attachments[0]?.sizeBytes)).toEqual([png.length, png.length]);
      expect(messages[0]?.id).toBe(Number(posted.messageId));
    },
  );

  it("keeps names that are no plain words, and their types", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const name = 'Rechnung "März"; ein Versuch – 東京.pdf';
    const file = media("document", bytesSource(png), { name, mediaType: "application/pdf" });
    await surface.post(address, { ...plain(""), files: [file] }, options);
    const [message] = simulator.messages(chat);
    expect(message?.attachments[0]).toMatchObject({
      fileName: name.replaceAll('"', "%22"),
      mimeType: "application/pdf",
    });
  });

  it("sends an album as one call with a formatted caption, silently, protected, as a reply", async () => {
    const { address, chat, options, simulator, surface, user } = await createChat();
    const question = simulator.sendText(chat, user, "Show me");
    const posted = await surface.post(
      address,
      {
        text: "Two views",
        entities: [{ type: "bold", offset: 0, length: 3 }],
        files: [media("photo"), media("video")],
        silent: true,
        protect: true,
        replyTo: String(question.message_id),
      },
      options,
    );
    const [, first, second] = simulator.messages(chat);
    expect(posted.messageIds).toEqual([String(first?.id), String(second?.id)]);
    expect(posted.fileIds).toHaveLength(2);
    expect(first).toMatchObject({
      text: "Two views",
      entities: [{ type: "bold", offset: 0, length: 3 }],
      silent: true,
      isProtected: true,
      replyToId: question.message_id,
    });
    expect(first?.mediaGroupId).toBe(second?.mediaGroupId);
    expect(second?.text).toBe("");
    expect(simulator.calls({ method: "sendMediaGroup" })).toHaveLength(1);
  });

  it("changes a caption, and takes it away", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const files = [media("photo")];
    const { messageId } = await surface.post(address, { ...plain("Before"), files }, options);
    await surface.edit(address, messageId, { ...plain("After"), isCaption: true }, options);
    expect(simulator.messages(chat)[0]?.text).toBe("After");
    await surface.edit(address, messageId, { ...plain(""), isCaption: true }, options);
    expect(simulator.messages(chat)[0]).toMatchObject({ text: "", attachments: [{ kind: "photo" }] });
  });

  it("is found by the search for lost posts, with its caption as it was", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const { messageId } = await surface.post(address, { ...plain("Look"), files: [media("photo")] }, options);
    expect(await surface.probing?.probe(address, messageId, options)).toBe("own");
    expect(simulator.messages(chat)[0]?.history).toHaveLength(1);
  });

  it("leaves the address of a file to the platform when it is told so", async () => {
    const { address, options, surface } = await createChat();
    const source: MediaSource = { kind: "address", url: "https://shop.example/a.jpg" };
    const failing = surface.post(address, { ...plain(""), files: [media("photo", source)] }, options);
    // The simulator fetches nothing.
    const error: unknown = await failing.catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toMatchObject({ kind: "rejected", code: "address-refused" });
  });

  it("does not know what became of a file whose bytes came to an early end", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const short: MediaSource = { kind: "bytes", hash: "png", sizeBytes: png.length + 1 };
    const failing = surface.post(address, { ...plain(""), files: [media("document", short)] }, options);
    const error: unknown = await failing.catch((caught: unknown) => caught);
    expect(surface.classifyError(error).kind).toBe("unknown");
    expect(simulator.messages(chat)).toEqual([]);
  });

  it("reads the bytes as they are sent, never all at once", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const piece = 256 * 1024;
    let read = 0;
    const sizeBytes = 80 * piece;
    const openFile = (): ReadableStream<Uint8Array> =>
      new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            read += piece;
            controller.enqueue(new Uint8Array(piece));
            if (read === sizeBytes) controller.close();
          },
        },
        { highWaterMark: 0 },
      );
    const source: MediaSource = { kind: "bytes", hash: "large", sizeBytes };
    await surface.post(
      address,
      { ...plain(""), files: [media("document", source)] },
      { ...options, openFile },
    );
    expect(simulator.messages(chat)[0]?.attachments[0]?.sizeBytes).toBe(sizeBytes);
  });
});

describe("a refusal of a file", () => {
  it.each([
    ["Bad Request: PHOTO_INVALID_DIMENSIONS", "photo-refused"],
    ["Bad Request: IMAGE_PROCESS_FAILED", "photo-refused"],
    ["Bad Request: wrong file identifier/HTTP URL specified", "file-id-refused"],
    ["Bad Request: wrong remote file identifier specified: Wrong padding in the string", "file-id-refused"],
    ["Bad Request: wrong file_id or the file is temporarily unavailable", "file-id-refused"],
    ["Bad Request: failed to get HTTP URL content", "address-refused"],
    ["Bad Request: wrong type of the web page content", "address-refused"],
    ["Bad Request: file is too big", "too-large"],
    ["Bad Request: file must be non-empty", "file-empty"],
    ["Bad Request: VOICE_MESSAGES_FORBIDDEN", "voice-forbidden"],
    ["Bad Request: not enough rights to send photos to the chat", "media-forbidden"],
    ["Bad Request: CHAT_SEND_MEDIA_FORBIDDEN", "media-forbidden"],
    ["Bad Request: REACTION_INVALID", "reaction-refused"],
  ])("%s is one of the content, not of the chat", (description, code) => {
    expect(refusalFailure({ errorCode: 400, description })).toMatchObject({ kind: "rejected", code });
  });

  it("of text still ends the chat", () => {
    const description = "Bad Request: not enough rights to send text messages to the chat";
    expect(refusalFailure({ errorCode: 400, description })).toEqual({ kind: "gone", code: "no-rights" });
    expect(refusalFailure({ errorCode: 400, description: "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN" })).toEqual(
      {
        kind: "gone",
        code: "no-rights",
      },
    );
  });
});

describe("a place, a reaction and a pin", () => {
  it("posts a place, or a venue when it has a name and an address", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const place = { latitude: 52.5, longitude: 13.4 };
    await surface.post(address, { ...plain(""), location: place }, options);
    const shop = { ...place, title: "The shop", address: "Market 1" };
    await surface.post(address, { ...plain(""), location: shop, silent: true }, options);
    expect(simulator.messages(chat).map(({ location }) => location)).toEqual([place, shop]);
    expect(simulator.messages(chat).map(({ silent }) => silent)).toEqual([false, true]);
  });

  it("shows a name without an address, and an address without a name", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const place = { latitude: 52.5, longitude: 13.4 };
    await surface.post(address, { ...plain(""), location: { ...place, title: "The shop" } }, options);
    await surface.post(address, { ...plain(""), location: { ...place, address: "Market 1" } }, options);
    expect(simulator.messages(chat).map(({ location }) => location)).toEqual([
      { ...place, title: "The shop", address: "52.5, 13.4" },
      { ...place, title: "Market 1", address: "52.5, 13.4" },
    ]);
  });

  it("reacts to a message, and takes the reaction back", async () => {
    const { address, chat, options, simulator, surface, user } = await createChat();
    const id = String(simulator.sendText(chat, user, "Thanks").message_id);
    await surface.react?.(address, id, "👍", options);
    expect(simulator.messages(chat)[0]?.reactions).toMatchObject([{ emoji: "👍" }]);
    await surface.react?.(address, id, undefined, options);
    expect(simulator.messages(chat)[0]?.reactions).toEqual([]);
    expect(await failureOf(surface, surface.react?.(address, id, "🫥", options))).toBe("reaction-refused");
    expect(await failureOf(surface, surface.react?.(address, "999", "👍", options))).toBe("message-missing");
  });

  it("pins a message, and takes it down", async () => {
    const { address, chat, options, simulator, surface, user } = await createChat();
    const id = String(simulator.sendText(chat, user, "Remember").message_id);
    await surface.pin?.(address, id, { isPinned: true, silent: true }, options);
    expect(simulator.messages(chat)[0]?.pinned).toBe(true);
    await surface.pin?.(address, id, { isPinned: false }, options);
    expect(simulator.messages(chat)[0]?.pinned).toBe(false);
    expect(await failureOf(surface, surface.pin?.(address, "999", { isPinned: true }, options))).toBe(
      "message-missing",
    );
  });
});

async function failureOf(surface: Surface, call: Promise<void> | undefined): Promise<string> {
  const error: unknown = await call?.catch((caught: unknown) => caught);
  return surface.classifyError(error).code;
}

describe("a picture of a message with buttons", () => {
  it("is uploaded with the message, and replaced by another upload", async () => {
    const { address, chat, options, simulator, surface } = await createChat();
    const buttons = [[{ kind: "callback", label: "Next", token: "t1" }]] as const;
    const image = media("photo");
    const content = { text: "Coffee", entities: [], buttons, image };
    const { fileIds, messageId } = await surface.post(address, content, options);
    const shown = () => simulator.messages(chat)[0];
    expect(shown()).toMatchObject({ text: "Coffee", buttons: [[{ text: "Next" }]] });
    const [before] = fileIds ?? [];
    expect(shown()?.attachments.map(({ fileId }) => fileId)).toEqual([before]);
    await surface.edit(address, messageId, { ...content, text: "Tea" }, options);
    expect(shown()).toMatchObject({ text: "Tea", buttons: [[{ text: "Next" }]] });
    expect(shown()?.attachments[0]?.fileId).not.toBe(before);
    // A search for a lost post has no bytes, and changes the text only.
    await surface.edit(address, messageId, { ...content, text: "Cake" }, { signal: options.signal });
    expect(shown()).toMatchObject({ text: "Cake", attachments: [{ kind: "photo" }] });
  });
});
