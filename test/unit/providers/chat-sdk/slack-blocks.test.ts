import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { CallFailure, Surface } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformStub, realAdapters, startPlatformStub } from "./platform-stub.ts";

const TABLE = "| Day | Seats |\n| --- | --- |\n| Monday | 12 |";
const TEXT = `# Plan\n\n- [x] **done**\n\n${TABLE}\n\nBye, @ada.`;
const DRAWN = "```\nDay    | Seats\n-------|------\nMonday | 12\n```";

let stub: PlatformStub;

beforeAll(async () => {
  stub = await startPlatformStub();
});
beforeEach(() => {
  for (const level of ["debug", "info", "log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation(() => undefined);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await stub.close();
});

type Sent = Readonly<Record<string, string>> & { readonly method: string };

/** A bot on Slack, whose answers to posts and edits are given. */
function createBot(refuse: (sent: Sent) => string | undefined = () => undefined) {
  const sent: Sent[] = [];
  stub.answer((body) => {
    const method = stub.requests.at(-1)?.split("/").at(-1) ?? "";
    if (!method.startsWith("chat.")) return { status: 200, body: { ok: true, user_id: "U0", bot_id: "B0" } };
    const one: Sent = { ...Object.fromEntries(new URLSearchParams(body)), method };
    sent.push(one);
    const error = refuse(one);
    return { status: 200, body: error === undefined ? { ok: true, ts: "1.2" } : { ok: false, error } };
  });
  const { adapter, chatId, threadId } = realAdapters.slack(stub.url);
  const surface = chatSdkMessenger({ adapter, verifyWebhook: false }).platform.surface(
    createPlatformContext({}).context,
  );
  const address = { messengerId: "bot", chatId, threadId, isDirectMessage: false };
  const options = { signal: new AbortController().signal };
  const outcome = async (call: Promise<unknown>): Promise<CallFailure | undefined> =>
    call.then(
      () => undefined,
      (error: unknown) => surface.classifyError(error),
    );
  const post = (text: string, more: Partial<Parameters<Surface["post"]>[1]> = {}) =>
    outcome(surface.post(address, { text, entities: [], ...more }, options));
  const edit = (text: string) => outcome(surface.edit(address, "1.2", { text, entities: [] }, options));
  return { sent, post, edit };
}

const REFUSED: CallFailure = { kind: "transient", code: "blocks-refused" };
const blocksOf = ({ blocks }: Sent): unknown => (blocks === undefined ? undefined : JSON.parse(blocks));

describe("a text on Slack", () => {
  it("is a block of Markdown, which shows tables, and has a text for notifications", async () => {
    const { edit, post, sent } = createBot();
    expect(await post(TEXT)).toBeUndefined();
    expect(await edit(`${TEXT} Again.`)).toBeUndefined();
    expect(sent.map(({ method }) => method)).toEqual(["chat.postMessage", "chat.update"]);
    const mentioned = TEXT.replace("@ada", "<@ada>");
    expect(sent.map(blocksOf)).toEqual([
      [{ type: "markdown", text: mentioned }],
      [{ type: "markdown", text: `${mentioned} Again.` }],
    ]);
    expect(sent.every((one) => one["markdown_text"] === undefined)).toBe(true);
    expect(sent[0]?.["text"]).toContain("*done*");
    expect(sent[0]?.["text"]).toContain("<@ada>");
  });

  it("has a short text for notifications, which an edit accepts", async () => {
    const { edit, sent } = createBot();
    await edit("Some long words. ".repeat(600));
    const text = sent[0]?.["text"] ?? "";
    expect(text.length).toBeGreaterThan(100);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4000);
  });

  it("is sent as text if Slack refuses the block, with its table in a block of code", async () => {
    const { edit, post, sent } = createBot((one) =>
      one["blocks"] === undefined ? undefined : "invalid_blocks",
    );
    expect(await post(TEXT)).toEqual(REFUSED);
    expect(await post(TEXT)).toBeUndefined();
    expect(sent[1]).not.toHaveProperty("blocks");
    expect(sent[1]?.["markdown_text"]).toBe(TEXT.replace("@ada", "<@ada>").replace(TABLE, DRAWN));
    // Each edit of the message is one call.
    expect(await edit(`${TEXT} Again.`)).toBeUndefined();
    expect(sent).toHaveLength(3);
    expect(sent[2]?.["markdown_text"]).toContain("Again.");
  });

  it("is edited as text if only the edit is refused", async () => {
    const { edit, post, sent } = createBot((one) =>
      one["blocks"] !== undefined && one.method === "chat.update" ? "msg_blocks_too_long" : undefined,
    );
    expect(await post("Hello.")).toBeUndefined();
    expect(await edit(TEXT)).toEqual(REFUSED);
    expect(await edit(TEXT)).toBeUndefined();
    expect(sent.at(-1)?.["markdown_text"]).toContain(DRAWN);
  });

  it("fails as before for any other reason", async () => {
    const { post, sent } = createBot(() => "channel_not_found");
    expect(await post(TEXT)).toMatchObject({ kind: "gone" });
    expect(sent).toHaveLength(1);
  });

  it("is never longer in blocks than Slack takes", async () => {
    const { post, sent } = createBot();
    const text = "@ada ".repeat(2300);
    await post(text);
    expect(sent[0]).not.toHaveProperty("blocks");
    expect(sent[0]?.["markdown_text"]).toHaveLength(text.length + 2 * 2300);
  });

  it("is a section in a card, beside its buttons", async () => {
    const { post, sent } = createBot();
    await post("*Sure?*", { isCard: true, buttons: [[{ kind: "callback", label: "Yes", token: "c1" }]] });
    expect(blocksOf(sent[0] as Sent)).toMatchObject([{ type: "section" }, { type: "actions" }]);
  });
});
