import type { ActionEvent, Message } from "chat";
import { describe, expect, it } from "vitest";
import { cardToken } from "../../../../../src/core/chat/card-token.ts";
import type { IncomingEvent } from "../../../../../src/core/chat/messenger.ts";
import { author, createMockRig, messageOf, sentAt } from "../rig.ts";

const threadId = "slack:C1:1";

async function only(rig: ReturnType<typeof createMockRig>): Promise<IncomingEvent> {
  const { response, accepted } = await rig.receive();
  expect(response.status).toBe(200);
  expect(accepted).toHaveLength(1);
  return accepted[0] as IncomingEvent;
}

function reporting(message: Message) {
  return createMockRig((chat, adapter) => {
    void chat.processMessage(adapter, threadId, message);
    return new Response("ok");
  });
}

describe("a message whose parts cannot be read", () => {
  it("takes the time of arrival for a date that is none", async () => {
    const metadata = { dateSent: new Date("no date"), edited: false };
    const rig = reporting(messageOf({ threadId, metadata }));
    const event = await rig.parse(await only(rig));
    expect(event.message).toMatchObject({ text: "hello", sentAt: rig.context.deps.clock.now() });
  });

  it("keeps a message that quotes one with a date that is none", async () => {
    const metadata = { dateSent: new Date(Number.NaN), edited: false };
    const replyTo = messageOf({ threadId, id: "0", text: "before", metadata });
    const rig = reporting(messageOf({ threadId, replyTo }));
    expect((await rig.parse(await only(rig))).message).toMatchObject({ sentAt, quoted: { text: "before" } });
  });

  it("knows an edit with an unreadable date by its text", async () => {
    const metadata = { dateSent: new Date(sentAt), edited: true, editedAt: new Date("?") };
    const keyOf = async (text: string) =>
      (await only(reporting(messageOf({ threadId, text, metadata })))).key;
    expect(await keyOf("one")).toBe(await keyOf("one"));
    expect(await keyOf("one")).not.toBe(await keyOf("two"));
  });

  it("reads numbers where ids and texts should be, and gaps where there should be something", async () => {
    const odd = {
      id: 7,
      text: "hello",
      threadId,
      raw: {},
      isMention: null,
      author: { userId: 42, userName: null, fullName: undefined, isBot: null, isMe: false },
      attachments: [{ type: "image", fetchMetadata: { fileId: 9, isLarge: true }, size: Number.NaN }],
      replyTo: null,
    } as unknown as Message;
    const rig = reporting(odd);
    const event = await rig.parse(await only(rig));
    expect(event).toMatchObject({
      kind: "message",
      author: { userId: "42" },
      message: {
        id: "7",
        attachments: [{ kind: "image", reference: { metadata: '{"fileId":"9","isLarge":"true"}' } }],
      },
    });
  });

  it("stores a message whose platform object is too large for a row, without that object", async () => {
    const rig = reporting(messageOf({ threadId, raw: { text: "x".repeat(300_000) } }));
    const incoming = await only(rig);
    expect(JSON.stringify(incoming).length).toBeLessThan(10_000);
    expect((await rig.parse(incoming)).message?.text).toBe("hello");
  });

  it("tells messages without an id apart by what is in them", async () => {
    const keyOf = async (text: string) => (await only(reporting(messageOf({ threadId, id: "", text })))).key;
    expect(await keyOf("one")).not.toBe(await keyOf("two"));
    expect(await keyOf("one")).toBe(await keyOf("one"));
  });

  it("keeps a message of a thread whose id the adapter cannot take apart", async () => {
    const refuse = () => {
      throw new Error("Invalid thread id");
    };
    const rig = createMockRig(
      (chat, adapter) => {
        void chat.processMessage(adapter, threadId, messageOf({ threadId }));
        return new Response("ok");
      },
      { channelIdFromThreadId: refuse, isDM: refuse },
    );
    expect((await only(rig)).thread).toEqual({
      id: threadId,
      chatId: "slack:C1",
      topicId: threadId,
      isDirectMessage: false,
    });
  });
});

describe("a message whose content the adapter does not read", () => {
  const parsed = async (overrides: Partial<Message>, isDM: boolean) => {
    const rig = createMockRig(
      (chat, adapter) => {
        void chat.processMessage(adapter, threadId, messageOf({ threadId, text: "", ...overrides }));
        return new Response("ok");
      },
      { isDM: () => isDM },
    );
    return rig.parse(await only(rig));
  };

  it("still reaches the bot where it was meant for the bot", async () => {
    const text = "[A message of a kind that this bot cannot read]";
    expect(await parsed({}, true)).toMatchObject({ kind: "direct-message", message: { text } });
    expect(await parsed({ isMention: true }, false)).toMatchObject({ kind: "mention", message: { text } });
  });

  it("is a service message among others", async () => {
    expect(await parsed({ isMention: false }, false)).toMatchObject({
      kind: "service",
      detail: "content of an unknown kind",
    });
  });
});

describe("presses", () => {
  const pressing = (...presses: readonly Partial<ActionEvent>[]) =>
    createMockRig((chat, adapter) => {
      for (const press of presses) {
        const base = {
          actionId: "yes",
          messageId: "1",
          threadId,
          user: author,
          raw: { type: "block_actions" },
        };
        void chat.processAction({ ...base, ...press, adapter }, undefined);
      }
      return new Response("ok");
    });

  it("are all stored when one request of the platform brings several", async () => {
    // Slack's block_actions and Teams' inputs of a form: one trigger or activity, several presses.
    const rig = pressing(
      { actionId: "size", value: "L", triggerId: "T1" },
      { actionId: "colour", value: "red", triggerId: "T1" },
    );
    const { accepted } = await rig.receive();
    expect(new Set(accepted.map(({ key }) => key)).size).toBe(2);
    const events = await Promise.all(accepted.map(rig.parse));
    expect(events.map(({ action }) => action?.data)).toEqual(["size:L", "colour:red"]);
  });

  it("keep their key when they are delivered again, with nothing of their value in it", async () => {
    const rig = pressing({ value: "psst", triggerId: "T1" });
    const first = await only(rig);
    expect((await only(rig)).key).toBe(first.key);
    expect(first.key).not.toContain("psst");
  });

  it("belong to a card by their action alone, whatever value the adapter adds", async () => {
    // WhatsApp's adapter reports the title of a button that has no value.
    const press = await only(pressing({ actionId: "c1.card.button", value: "Approve" }));
    expect(press.isCardPress).toBe(true);
    const other = await only(pressing({ actionId: "size", value: "c1.card.button" }));
    expect(other.isCardPress).toBeUndefined();
  });

  it("in a view of the app are answered 200, and not stored", async () => {
    const rig = pressing({ threadId: "", messageId: "" });
    const { response, accepted, ignored } = await rig.receive();
    expect([response.status, accepted, ignored]).toEqual([200, [], ["press outside of a chat"]]);
  });

  it("of a card's button go to the gate of their chat", async () => {
    const token = cardToken({ key: "k1", button: "b1" });
    const rig = pressing({ actionId: token }, { actionId: "yes" });
    const { accepted } = await rig.receive();
    expect(accepted.map(({ isCardPress }) => isCardPress)).toEqual([true, undefined]);
    const [first] = accepted;
    expect(first && (await rig.parse(first)).action?.data).toBe(token);
  });

  it("without a message are stored", async () => {
    const rig = pressing({ messageId: "" });
    const event = await rig.parse(await only(rig));
    expect(event.action).toEqual({ id: expect.any(String), data: "yes" });
  });
});

describe("slash commands", () => {
  it("in a channel are for this bot alone", async () => {
    const rig = createMockRig((chat, adapter) => {
      void chat.processSlashCommand(
        {
          adapter,
          channelId: "slack:C1",
          command: "/deploy",
          text: "shop to production",
          triggerId: "T1",
          raw: { command: "/deploy", trigger_id: "T1" },
          user: author,
        },
        undefined,
      );
      return new Response("");
    });
    const event = await rig.parse(await only(rig));
    expect(event).toMatchObject({
      kind: "mention",
      message: {
        text: "/deploy shop to production",
        command: { name: "deploy", args: "shop to production", isForThisBot: true },
      },
    });
  });
});
