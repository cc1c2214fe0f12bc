import { createLinearAdapter } from "@chat-adapter/linear";
import { createMockChatInstance, createMockLogger } from "@chat-adapter/tests";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LinearEmulator } from "../../contracts/linear/emulator.ts";
import type { Acted } from "../../contracts/platform-emulator.ts";
import { createRig } from "../providers/chat-sdk/rig.ts";

const API = "http://127.0.0.1:1";
const ada = { id: "7001", name: "Ada 1" };

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The real adapter, whose calls go to an emulator. */
function connect(emulator: LinearEmulator): ReturnType<typeof createLinearAdapter> {
  vi.stubGlobal("fetch", (input: string, init?: RequestInit) => emulator.answer(new Request(input, init)));
  const options = JSON.parse(emulator.env(API)["PLATFORM_OPTIONS"] ?? "") as Parameters<
    typeof createLinearAdapter
  >[0];
  return createLinearAdapter({ ...options, logger: createMockLogger() });
}

function call(emulator: LinearEmulator, query: string, variables: object, authorization = "lin_api_9f3d") {
  const body = JSON.stringify({ query, variables });
  return emulator.answer(new Request(`${API}/graphql`, { method: "POST", headers: { authorization }, body }));
}

const CREATE =
  "mutation createComment($input: CommentCreateInput!) { commentCreate(input: $input) { success } }";

async function heardBy(emulator: LinearEmulator, acts: readonly (Acted | undefined)[]): Promise<unknown[]> {
  const rig = createRig(connect(emulator));
  const heard: unknown[] = [];
  for (const webhook of acts.flatMap((acted) => acted?.webhooks ?? [])) {
    const { accepted, response } = await rig.receive(webhook.request("https://bot.example/"));
    expect(response.status).toBe(200);
    for (const incoming of accepted) {
      const { kind, message } = await rig.parse(incoming);
      heard.push([kind, message?.text]);
    }
  }
  return heard;
}

describe("the emulator of Linear", () => {
  it("keeps what the adapter posts, edits and deletes in a thread", async () => {
    const emulator = new LinearEmulator();
    const adapter = connect(emulator);
    await adapter.initialize(createMockChatInstance());
    const issue = emulator.shared("Broken lamp");
    const root = await emulator.act({ kind: "write", by: ada, in: issue, text: "Hello" });
    const thread = `linear:${issue}:c:${root?.messageId}`;
    const { id } = await adapter.postMessage(thread, { markdown: "See **this**" });
    expect(emulator.seen(issue).at(-1)).toMatchObject({
      id,
      by: "bot",
      text: "See this",
      threadOf: root?.messageId,
    });
    await adapter.editMessage(thread, id, { markdown: "Done" });
    expect(emulator.seen(issue).at(-1)).toMatchObject({ text: "Done", isEdited: true });
    await adapter.deleteMessage(thread, id);
    expect(emulator.seen(issue)).toHaveLength(1);
    await expect(adapter.editMessage(thread, id, { markdown: "Again" })).rejects.toThrow(/not found/);
  });

  it("refuses as Linear does", async () => {
    const emulator = new LinearEmulator();
    const issueId = emulator.shared("Broken lamp");
    const codeOf = async (response: Response): Promise<unknown> => {
      const { errors } = (await response.json()) as {
        readonly errors?: readonly [{ readonly extensions: { readonly type: string } }];
      };
      return [response.status, errors?.[0].extensions.type];
    };
    const input = { issueId, body: "Hello" };
    expect(await codeOf(await call(emulator, CREATE, { input }, "wrong"))).toEqual([
      401,
      "authentication error",
    ]);
    expect(await codeOf(emulator.refuse({ kind: "flood", retryAfterMs: 1000 }))).toEqual([
      400,
      "ratelimited",
    ]);
    const refused = [400, "invalid input"];
    expect(await codeOf(await call(emulator, CREATE, { input: { issueId } }))).toEqual(refused);
    expect(await codeOf(await call(emulator, CREATE, { input: { ...input, issueId: "none" } }))).toEqual(
      refused,
    );
    const named = { input: { ...input, id: "2f1b6a5e-8f5b-4d6c-9a57-0c1d2e3f4a5b" } };
    expect(await codeOf(await call(emulator, CREATE, named))).toEqual([200, undefined]);
    expect(await codeOf(await call(emulator, CREATE, named))).toEqual(refused);
    emulator.shut(issueId);
    expect(await codeOf(await call(emulator, CREATE, { input }))).toEqual(refused);
  });

  it("sends webhooks of comments that the adapter takes, each time signed for its moment", async () => {
    const emulator = new LinearEmulator();
    const place = emulator.shared("Broken lamp");
    const write = await emulator.act({ kind: "write", by: ada, in: place, text: "Hello", isMention: true });
    const reply = await emulator.act({
      kind: "write",
      by: ada,
      in: place,
      text: "And then?",
      inThreadOf: write?.messageId ?? "",
    });
    expect(await heardBy(emulator, [write, reply])).toEqual([
      ["mention", "@shop-bot Hello"],
      ["message", "And then?"],
    ]);
  });

  it("begins a session with an agent by a mention, and shows its thoughts and answers", async () => {
    const emulator = new LinearEmulator({ mode: "agent-sessions" });
    const adapter = connect(emulator);
    await adapter.initialize(createMockChatInstance());
    const place = emulator.shared("Broken lamp");
    const write = await emulator.act({ kind: "write", by: ada, in: place, text: "Hello", isMention: true });
    const body = (await write?.webhooks[0]?.request("https://bot.example/").json()) as {
      readonly agentSession: { readonly id: string };
    };
    const thread = `linear:${place}:c:${write?.messageId}:s:${body.agentSession.id}`;
    await adapter.startTyping(thread);
    expect(emulator.typingShown(place)).toBe(1);
    await adapter.postMessage(thread, { markdown: "Here I am." });
    expect(emulator.seen(place).at(-1)).toMatchObject({
      by: "bot",
      text: "Here I am.",
      threadOf: write?.messageId,
    });
    const reply = await emulator.act({
      kind: "write",
      by: ada,
      in: place,
      text: "And then?",
      inThreadOf: write?.messageId ?? "",
    });
    expect(await reply?.webhooks[0]?.request("https://bot.example/").json()).toMatchObject({
      action: "prompted",
      agentActivity: { content: { type: "prompt", body: "And then?" } },
    });
  });
});
