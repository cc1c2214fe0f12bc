import { describe, expect, it } from "vitest";
import { messageEvent } from "../../../../lab/support/messenger-events.ts";
import type { MessengerEvent } from "../../../../src/core/chat/messenger-event.ts";
import { parseEvent, storeEvent, storeThread } from "../../../../src/core/chat/stored-event.ts";

describe("a stored event", () => {
  it("comes back as it was, without the platform's own object", () => {
    const event = messageEvent();
    const { raw: _raw, ...stored } = event;
    expect(parseEvent(storeEvent({ ...event, raw: { update_id: 1 } }))).toEqual(stored);
  });

  it("keeps what a newer version has added", () => {
    const event = { ...messageEvent(), mood: "glad" };
    expect(parseEvent(storeEvent(event))).toMatchObject({ mood: "glad" });
  });

  it.each([
    ["no thread", "thread", { thread: undefined }],
    [
      "a message without a text",
      "text",
      { message: { id: "1", sentAt: 1, isMention: false, attachments: [] } },
    ],
    [
      "attachments that are none",
      "attachments",
      { message: { ...messageEvent().message, attachments: "a.png" } },
    ],
  ])("is refused before it is written: %s", (_name, field, change) => {
    expect(() => storeEvent({ ...messageEvent(), ...change } as unknown as MessengerEvent)).toThrow(field);
  });
});

it("refuses a thread without its chat before it is written", () => {
  const { thread } = messageEvent();
  expect(() => storeThread({ ...thread, chatId: 7 as unknown as string })).toThrow("chatId");
});
