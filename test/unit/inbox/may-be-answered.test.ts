import { describe, expect, it } from "vitest";
import type { MessengerRespondTo } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { mayBeAnswered } from "../../../src/inbox/may-be-answered.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";

const group = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
const action = { action: { id: "1", data: "yes" } };
const help = { text: "/help", command: { name: "help", args: "" } };

function asks(event: MessengerEvent, ...respondTo: MessengerRespondTo[]): boolean {
  const kinds = respondTo.length === 0 ? (["direct-message", "mention"] as const) : respondTo;
  return mayBeAnswered(event, { respondTo: kinds, hasCommand: (name) => name === "help" });
}

describe("mayBeAnswered", () => {
  it.each([
    ["a direct message", messageEvent(), []],
    ["a mention", messageEvent({ kind: "mention", thread: group }), []],
    ["a command in a group", messageEvent({ kind: "message", thread: group, message: help }), []],
    [
      "any message of a subscribed thread",
      messageEvent({ kind: "message", thread: group }),
      ["subscribed-thread"],
    ],
    [
      "a mention that only subscribes",
      messageEvent({ kind: "mention", thread: group }),
      ["subscribed-thread"],
    ],
    ["a part of an album", messageEvent({ kind: "message", thread: group, message: { albumId: "a" } }), []],
    ["an edit in a private chat", messageEvent({ kind: "message-edited" }), []],
    [
      "an edit with a mention",
      messageEvent({ kind: "message-edited", thread: group, message: { isMention: true } }),
      [],
    ],
    ["a press that is answered", messageEvent({ kind: "action", ...action }), ["action"]],
    ["the stop button", messageEvent({ kind: "stop", stop: { draftId: 1 } }), []],
  ] as const)("is true for %s", (_name, event, respondTo) => {
    expect(asks(event, ...respondTo)).toBe(true);
  });

  it.each([
    ["a direct message that is not answered", messageEvent(), ["mention"]],
    ["a message to others", messageEvent({ kind: "message", thread: group }), []],
    ["an edit of a message to others", messageEvent({ kind: "message-edited", thread: group }), []],
    ["a message of a bot", messageEvent({ author: { userId: "9", isBot: true } }), []],
    [
      "a mention by a bot",
      messageEvent({ kind: "mention", thread: group, author: { userId: "9", isBot: true } }),
      ["subscribed-thread"],
    ],
    ["a press that is only acknowledged", messageEvent({ kind: "action", ...action }), []],
    ["a deletion", messageEvent({ kind: "message-deleted" }), []],
    ["a change of membership", messageEvent({ kind: "membership", detail: "blocked" }), []],
    ["a service message", messageEvent({ kind: "service", detail: "joined" }), []],
    ["an update that is not handled", messageEvent({ kind: "ignored", detail: "poll" }), []],
  ] as const)("is false for %s", (_name, event, respondTo) => {
    expect(asks(event, ...respondTo)).toBe(false);
  });
});
