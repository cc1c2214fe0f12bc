import { createMockAdapter } from "@chat-adapter/tests";
import type { Adapter, AdapterPostableMessage, Attachment } from "chat";
import { describe, expect, it } from "vitest";
import { type ChatSdkMessengerOptions, chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import type { Address, CallFailure, Surface } from "../../../src/core/chat/surface.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import type { AttachmentReference } from "../../../src/core/chat/messenger-event.ts";
import { addressOf } from "./fake-bot-api.ts";
import { createPlatformContext } from "./platform-context.ts";

const address: Address = {
  messengerId: "bot",
  threadId: "slack:C1:1",
  chatId: "slack:C1",
  isDirectMessage: false,
};
const signal = () => new AbortController().signal;

function surfaceOf(overrides: Partial<Adapter>, name = "slack"): Surface {
  const adapter = createMockAdapter(name, overrides);
  return chatSdkMessenger({ adapter, verifyWebhook: false }).platform.surface(
    createPlatformContext({}).context,
  );
}

function named(name: string, extra: object = {}): Error {
  return Object.assign(new Error("the adapter's own words"), { name }, extra);
}

describe("a card", () => {
  const buttons = [
    [
      { kind: "callback", label: "Yes", token: "t1" },
      { kind: "link", label: "Shop", url: "https://shop.example" },
    ],
  ] as const;
  const card = { text: "**Sure?**", entities: [], isCard: true, buttons };

  function posting(name: string) {
    const sent: unknown[] = [];
    const adapter = createMockAdapter(name, {
      postMessage: async (threadId, message) => {
        sent.push(message);
        return { id: "1", threadId, raw: {} };
      },
      editMessage: async (threadId, id, message) => {
        sent.push(message);
        return { id, threadId, raw: {} };
      },
    });
    const surface = chatSdkMessenger({ adapter, verifyWebhook: false }).platform.surface(
      createPlatformContext({}).context,
    );
    return { sent, surface };
  }

  it("is one of the SDK, also when its last button has gone", async () => {
    const { sent, surface } = posting("slack");
    await surface.post(address, card, { signal: signal() });
    await surface.edit(address, "1", { text: "Done", entities: [], isCard: true }, { signal: signal() });
    expect(sent).toEqual([
      {
        fallbackText: "**Sure?**",
        card: {
          type: "card",
          children: [
            { type: "text", content: "**Sure?**" },
            {
              type: "actions",
              children: [
                { type: "button", id: "t1", label: "Yes" },
                { type: "link-button", label: "Shop", url: "https://shop.example" },
              ],
            },
          ],
        },
      },
      { fallbackText: "Done", card: { type: "card", children: [{ type: "text", content: "Done" }] } },
    ]);
    expect(surface.capabilities).toMatchObject({ buttons: true, privateWords: "message" });
  });

  it.each(["github", "linear"])("is text on %s, which has no buttons", async (name) => {
    const { sent, surface } = posting(name);
    await surface.post(address, { text: "Sure?", entities: [], isCard: true }, { signal: signal() });
    expect(sent).toEqual([{ raw: "Sure?" }]);
    expect(surface.capabilities.buttons).toBe(false);
  });

  it("is text on WhatsApp when it has no buttons, as it cannot be edited", async () => {
    const { sent, surface } = posting("whatsapp");
    const rows = [
      [
        { kind: "callback", label: "Yes", token: "t1" },
        { kind: "callback", label: "No", token: "t2" },
      ],
    ] as const;
    await surface.post(
      address,
      { text: "Sure?", entities: [], isCard: true, buttons: rows },
      { signal: signal() },
    );
    await surface.post(address, { text: "*1.* Yes", entities: [], isCard: true }, { signal: signal() });
    expect(sent).toMatchObject([
      {
        card: {
          children: [
            { type: "text", content: "Sure?" },
            { type: "actions", children: [{ id: "t1" }, { id: "t2" }] },
          ],
        },
      },
      { raw: "*1.* Yes" },
    ]);
  });
});

describe("the abilities of a platform", () => {
  const abilitiesOf = (name: string, options: Partial<ChatSdkMessengerOptions> = {}) => {
    const adapter = createMockAdapter(name);
    const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false, ...options });
    const { capabilities, captionLimits, limits } = platform.surface(createPlatformContext({}).context);
    const { buttons, edit, files, remove } = capabilities;
    return {
      buttons,
      edit,
      remove,
      files: files !== undefined,
      ...(files?.hasCaptions === false && { captions: false }),
      photoBytes: files?.maxBytes("photo"),
      maxLength: limits.maxLength,
      ...(limits.unit !== undefined && { unit: limits.unit }),
      maxCaption: captionLimits?.maxLength ?? limits.maxLength,
    };
  };
  const MIB = 1024 * 1024;
  const all = { buttons: true, edit: true, remove: true, files: true, photoBytes: 10 * MIB };
  const textOnly = { ...all, buttons: false, files: false, photoBytes: undefined };

  it.each([
    ["slack", { ...all, maxLength: 11_500, maxCaption: 11_500 }],
    ["discord", { ...all, maxLength: 2000, maxCaption: 2000 }],
    ["teams", { ...all, captions: false, photoBytes: 1_000_000, maxLength: 16_000, maxCaption: 16_000 }],
    [
      "whatsapp",
      { ...all, edit: false, remove: false, photoBytes: 5 * MIB, maxLength: 4096, maxCaption: 1024 },
    ],
    [
      "gchat",
      {
        ...all,
        files: false,
        photoBytes: undefined,
        maxLength: 30_000,
        maxCaption: 30_000,
        unit: "utf8-bytes",
      },
    ],
    ["github", { ...textOnly, maxLength: 65_536, maxCaption: 65_536, unit: "code-points" }],
    ["linear", { ...textOnly, maxLength: 10_000, maxCaption: 10_000 }],
    ["another", { ...all, maxLength: 2000, maxCaption: 2000 }],
  ])("are known by the adapter's name: %s", (name, expected) => {
    expect(abilitiesOf(name)).toEqual(expected);
  });

  it("are those of the options, where these name them", () => {
    const options = {
      capabilities: { maxMessageLength: 500, canEditMessages: true },
      files: { maxBytes: MIB },
    };
    expect(abilitiesOf("whatsapp", options)).toMatchObject({
      edit: true,
      maxLength: 500,
      maxCaption: 500,
      photoBytes: MIB,
    });
    expect(abilitiesOf("gchat", { files: {} })).toMatchObject({ files: true });
  });
});

describe("a file", () => {
  const media = {
    kind: "document",
    name: "invoice.pdf",
    mediaType: "application/pdf",
    source: { kind: "bytes", hash: "h1", sizeBytes: 3 },
  } as const;
  const message = { text: "Your **invoice**", entities: [], files: [media] };
  const openFile = () => new Blob(["pdf"]).stream();

  it("reaches the adapter with its bytes, its name and its caption", async () => {
    const sent: AdapterPostableMessage[] = [];
    const postMessage: Adapter["postMessage"] = async (threadId, posted) => {
      sent.push(posted);
      return { id: "1", threadId, raw: {} };
    };
    const surface = surfaceOf({ postMessage }, "discord");
    await surface.post(address, message, { signal: signal(), openFile });
    expect(sent).toMatchObject([
      {
        raw: "Your **invoice**",
        files: [{ filename: "invoice.pdf", mimeType: "application/pdf" }],
      },
    ]);
    const [posted] = sent;
    const data = typeof posted === "object" && "files" in posted ? posted.files?.[0]?.data : undefined;
    expect(await new Response(data as Blob).text()).toBe("pdf");
  });

  it("whose bytes cannot be read was certainly not sent", async () => {
    const surface = surfaceOf({ postMessage: () => Promise.reject(new Error("must not be called")) });
    const error: unknown = await surface
      .post(address, message, { signal: signal() })
      .catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toEqual({
      kind: "rejected",
      code: "file-unreadable",
      about: "file",
    });
  });

  it.each([
    ["slack", undefined, { maxAlbumSize: 1, references: false }],
    ["slack", { maxAlbumSize: 4 }, { maxAlbumSize: 4, references: false }],
    ["slack", false, undefined],
    ["github", undefined, undefined],
  ] as const)("on %s with %j", (name, files, expected) => {
    const { platform } = chatSdkMessenger({
      adapter: createMockAdapter(name),
      verifyWebhook: false,
      ...(files !== undefined && { files }),
    });
    const { capabilities } = platform.surface(createPlatformContext({}).context);
    if (expected === undefined) expect(capabilities.files).toBeUndefined();
    else expect(capabilities.files).toMatchObject(expected);
  });

  it("is a picture of some types for Teams, or any other file", () => {
    const { platform } = chatSdkMessenger({
      adapter: createMockAdapter("teams"),
      verifyWebhook: false,
      files: { maxBytes: 500 },
    });
    const { files } = platform.surface(createPlatformContext({}).context).capabilities;
    expect(files?.maxBytes("photo")).toBe(500);
    expect(files?.maxBytes("document")).toBe(500);
    expect(files?.photoTypes).toEqual(["image/png", "image/jpeg", "image/gif"]);
  });

  it.each([{ maxBytes: 0 }, { maxBytes: 60_000_000 }, { maxAlbumSize: 11 }])("has options: %j", (files) => {
    const make = () => chatSdkMessenger({ adapter: createMockAdapter("slack"), verifyWebhook: false, files });
    expect(make).toThrow(/files\.max.* whole number from 1 to/);
  });
});

describe("what an adapter's error means", () => {
  const cases: readonly (readonly [string, unknown, CallFailure])[] = [
    [
      "pacing, in seconds",
      named("AdapterRateLimitError", { retryAfter: 2.5 }),
      { kind: "retry-after", code: "too-many-requests", retryAfterMs: 2500 },
    ],
    [
      "pacing, in milliseconds",
      named("RateLimitError", { retryAfterMs: 700 }),
      { kind: "retry-after", code: "too-many-requests", retryAfterMs: 700 },
    ],
    [
      "pacing without a time",
      named("RateLimitError"),
      { kind: "retry-after", code: "too-many-requests", retryAfterMs: 5000 },
    ],
    ["credentials", named("AuthenticationError"), { kind: "misconfigured", code: "credentials-refused" }],
    ["rights", named("PermissionError"), { kind: "gone", code: "no-rights" }],
    ["a missing chat", named("ResourceNotFoundError"), { kind: "gone", code: "chat-missing" }],
    ["content", named("ValidationError"), { kind: "rejected", code: "bad-request" }],
    ["what it cannot do", named("NotImplementedError"), { kind: "rejected", code: "not-supported" }],
    ["an unclear connection", named("NetworkError"), { kind: "unknown", code: "no-answer" }],
    [
      "a connection that was never made",
      named("NetworkError", {
        originalError: new TypeError("fetch failed", { cause: named("Error", { code: "ECONNREFUSED" }) }),
      }),
      { kind: "transient", code: "no-connection" },
    ],
    [
      "status 429",
      named("Error", { status: 429 }),
      { kind: "retry-after", code: "too-many-requests", retryAfterMs: 5000 },
    ],
    ["status 400", named("Error", { statusCode: 400 }), { kind: "rejected", code: "bad-request" }],
    ["status 403", named("Error", { response: { status: 403 } }), { kind: "gone", code: "no-rights" }],
    ["status 500", named("Error", { status: 500 }), { kind: "unknown", code: "server-error" }],
    ["status 503", named("Error", { status: 503 }), { kind: "transient", code: "server-unavailable" }],
    ["anything else", "thrown text", { kind: "unknown", code: "no-answer" }],
  ];

  it.each(cases)("is clear for %s", async (_name, thrown, failure) => {
    const surface = surfaceOf({ postMessage: () => Promise.reject(thrown) });
    const error: unknown = await surface
      .post(address, { text: "x", entities: [] }, { signal: signal() })
      .catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toEqual(failure);
    expect((error as Error).message).not.toContain("own words");
  });

  it("takes a message that is gone for that, and an edit that changes nothing for done", async () => {
    const missing = surfaceOf({ editMessage: () => Promise.reject(named("ResourceNotFoundError")) });
    const edit = (surface: Surface) =>
      surface
        .edit(address, "1", { text: "x", entities: [] }, { signal: signal() })
        .catch((error: unknown) => surface.classifyError(error).kind);
    expect(await edit(missing)).toBe("missing");
    const unchanged = Object.assign(new Error("Bad Request: message is not modified"), {
      name: "ValidationError",
    });
    expect(await edit(surfaceOf({ editMessage: () => Promise.reject(unchanged) }))).toBe("unchanged");
  });

  it.each([named("PermissionError"), named("Error", { status: 403 })])(
    "does not take a chat for gone when one of its messages may not be changed: %#",
    async (thrown) => {
      const refuse = () => Promise.reject(thrown);
      const surface = surfaceOf({ editMessage: refuse, deleteMessage: refuse });
      const message = { text: "x", entities: [] };
      const kinds = [
        surface.edit(address, "1", message, { signal: signal() }),
        surface.remove(address, "1", { signal: signal() }),
      ].map((call) => call.catch((error: unknown) => surface.classifyError(error).kind));
      expect(await Promise.all(kinds)).toEqual(["rejected", "rejected"]);
    },
  );

  it.each([
    [named("Error"), { kind: "transient", code: "not-initialized" }],
    [named("AuthenticationError"), { kind: "misconfigured", code: "credentials-refused" }],
  ])("knows that nothing was sent when the adapter could not be initialized: %s", async (thrown, failure) => {
    const surface = surfaceOf({ initialize: () => Promise.reject(thrown) });
    const error: unknown = await surface
      .typing(address, { signal: signal() })
      .catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toEqual(failure);
  });
});

describe("files", () => {
  const fetchFile = async (
    reference: AttachmentReference,
    given: { adapter?: Partial<Adapter>; fetch?: typeof fetch; maxBytes?: number; signal?: AbortSignal } = {},
  ) => {
    const adapter = createMockAdapter("slack", given.adapter);
    const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
    const { context } = createPlatformContext(given.fetch === undefined ? {} : { fetch: given.fetch });
    return platform.fetchAttachment(reference, context, {
      maxBytes: given.maxBytes ?? 10,
      signal: given.signal ?? signal(),
    });
  };
  const codeOf = (run: Promise<unknown>) =>
    run.then(
      () => "fetched",
      (error: unknown) => errorCode(error),
    );
  const reference = { type: "image", metadata: '{"fileId":"F1"}', mediaType: "image/png" };
  const rehydrating = (fetchData: Attachment["fetchData"]): Partial<Adapter> => ({
    rehydrateAttachment: (attachment) => ({ ...attachment, fetchData }),
  });

  it("come through the adapter, which knows how to authorise", async () => {
    let seen: Attachment | undefined;
    const file = await fetchFile(reference, {
      adapter: {
        rehydrateAttachment: (attachment) => {
          seen = attachment;
          return { ...attachment, fetchData: async () => Buffer.from("png") };
        },
      },
    });
    expect(seen?.fetchMetadata).toEqual({ fileId: "F1" });
    expect(file).toEqual({ bytes: new Uint8Array(Buffer.from("png")), mediaType: "image/png" });
  });

  it("are fetched when the adapter is initialized, and not before", async () => {
    const initialized = Promise.withResolvers<void>();
    const steps: string[] = [];
    const fetching = fetchFile(reference, {
      adapter: {
        initialize: async () => {
          await initialized.promise;
          steps.push("initialized");
        },
        rehydrateAttachment: (attachment) => {
          steps.push("asked for");
          return { ...attachment, fetchData: async () => Buffer.from("png") };
        },
      },
    });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual([]);
    initialized.resolve();
    await fetching;
    expect(steps).toEqual(["initialized", "asked for"]);
  });

  it("fail for now when the adapter cannot be initialized, or not in time", async () => {
    const failing = { initialize: () => Promise.reject(new Error("xoxb-secret")) };
    await expect(fetchFile(reference, { adapter: failing })).rejects.toThrow(
      /^Fetching an attachment failed\.$/,
    );
    const hung = { initialize: () => new Promise<void>(() => undefined) };
    const controller = new AbortController();
    const fetching = codeOf(fetchFile(reference, { adapter: hung, signal: controller.signal }));
    controller.abort();
    expect(await fetching).toBe("attachment-timed-out");
  });

  it("are refused when they are too large, fail, or take too long", async () => {
    const large = rehydrating(async () => Buffer.alloc(11));
    expect(await codeOf(fetchFile(reference, { adapter: large }))).toBe("attachment-too-large");
    const failing = rehydrating(() => Promise.reject(new Error("xoxb-secret")));
    await expect(fetchFile(reference, { adapter: failing })).rejects.toThrow(
      /^Fetching an attachment failed\.$/,
    );
    const hung = rehydrating(() => new Promise(() => undefined));
    const controller = new AbortController();
    const fetching = codeOf(fetchFile(reference, { adapter: hung, signal: controller.signal }));
    controller.abort();
    expect(await fetching).toBe("attachment-timed-out");
  });

  it("come by their public address when the adapter has no other way", async () => {
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      const url = addressOf(input);
      urls.push(url);
      if (url === "https://files.example.org/a") {
        return new Response(null, { status: 302, headers: { location: "https://cdn.example.org/b" } });
      }
      return new Response("bytes", { headers: { "content-type": "text/plain; charset=utf-8" } });
    };
    const file = await fetchFile({ type: "file", url: "https://files.example.org/a" }, { fetch });
    expect(file).toEqual({ bytes: new TextEncoder().encode("bytes"), mediaType: "text/plain" });
    expect(urls).toEqual(["https://files.example.org/a", "https://cdn.example.org/b"]);
  });

  it.each([
    "http://files.example.org/a",
    "https://localhost/a",
    "https://127.0.0.1/a",
    "https://2130706433/a",
    "https://0x7f.1/a",
    "https://10.1.2.3/a",
    "https://172.16.0.1/a",
    "https://192.168.1.1/a",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/a",
    "https://[::1]/a",
    "https://[::ffff:10.0.0.1]/a",
    "https://printer.local/a",
    "https://db.internal./a",
    "https://intranet/a",
    "https://user:pass@files.example.org/a",
    "file:///etc/passwd",
    "nonsense",
  ])("never come from %s, not even by a redirect", async (url) => {
    let isFetched = false;
    const direct = fetchFile(
      { type: "file", url },
      { fetch: async () => ((isFetched = true), new Response("x")) },
    );
    expect(await codeOf(direct)).toBe("attachment-address");
    expect(isFetched).toBe(false);
    if (!URL.canParse(url)) return;
    const redirect = new Response(null, { status: 302, headers: { location: url } });
    const redirected = fetchFile(
      { type: "file", url: "https://files.example.org/a" },
      { fetch: async () => redirect },
    );
    expect(await codeOf(redirected)).toBe("attachment-address");
  });

  it("are cut off at the limit, and refused after too many redirects", async () => {
    const large = async () => new Response("x".repeat(11));
    expect(await codeOf(fetchFile({ type: "file", url: "https://a.example.org/" }, { fetch: large }))).toBe(
      "attachment-too-large",
    );
    const round = async () =>
      new Response(null, { status: 302, headers: { location: "https://a.example.org/" } });
    expect(await codeOf(fetchFile({ type: "file", url: "https://a.example.org/" }, { fetch: round }))).toBe(
      "attachment-refused",
    );
  });

  it("cannot come from a reference without a way to them", async () => {
    expect(await codeOf(fetchFile({ type: "file" }))).toBe("attachment-reference");
    expect(await codeOf(fetchFile({ type: "file", metadata: "{" }))).toBe("attachment-reference");
  });
});
