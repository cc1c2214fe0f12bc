import { describe, expect, it } from "vitest";
import type { SortSettings } from "../../../src/inbox/sort-event.ts";
import { sortEvent } from "../../../src/inbox/sort-event.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";

const settings = (overrides: Partial<SortSettings> = {}): SortSettings => ({
  respondTo: ["direct-message", "mention"],
  isSubscribed: false,
  hasCommand: (name) => name === "help",
  ...overrides,
});
const group = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };

describe("sortEvent", () => {
  it("answers a direct message and a mention", () => {
    expect(sortEvent(messageEvent(), settings())).toEqual({ kind: "answer" });
    expect(sortEvent(messageEvent({ kind: "mention", thread: group }), settings())).toEqual({
      kind: "answer",
    });
  });

  it("says why a message of a group is not answered", () => {
    expect(sortEvent(messageEvent({ kind: "message", thread: group }), settings())).toEqual({
      kind: "ignore",
      reason: "no mention",
    });
  });

  it("answers any message of a subscribed thread only where that is asked for", () => {
    const event = messageEvent({ kind: "message", thread: group });
    const respondTo = ["subscribed-thread"] as const;
    expect(sortEvent(event, settings({ respondTo, isSubscribed: true }))).toEqual({ kind: "answer" });
    expect(sortEvent(event, settings({ respondTo }))).toMatchObject({ kind: "ignore" });
    expect(sortEvent(event, settings({ isSubscribed: true }))).toMatchObject({ kind: "ignore" });
  });

  it("answers an unknown command of a group that the platform sends to this bot alone", () => {
    const command = { command: { name: "weather", args: "", isForThisBot: true }, text: "/weather" };
    const event = messageEvent({ kind: "mention", thread: group, message: command });
    expect(sortEvent(event, settings())).toEqual({ kind: "answer" });
    expect(sortEvent(event, settings({ respondTo: ["direct-message"] }))).toEqual({
      kind: "ignore",
      reason: "mentions are not answered",
    });
  });

  it("runs a known command anywhere, hands an unknown one to the model in private, and leaves it in a group", () => {
    const command = (name: string) => ({ command: { name, args: "" }, text: `/${name}` });
    expect(sortEvent(messageEvent({ message: command("help") }), settings())).toMatchObject({
      kind: "command",
    });
    expect(sortEvent(messageEvent({ message: command("weather") }), settings())).toEqual({ kind: "answer" });
    expect(
      sortEvent(messageEvent({ kind: "mention", thread: group, message: command("weather") }), settings()),
    ).toMatchObject({ kind: "ignore" });
  });

  it("runs a command that mentions nobody only where the bot is subscribed", () => {
    const event = messageEvent({
      kind: "message",
      thread: group,
      message: { command: { name: "help", args: "" }, text: "/help" },
    });
    expect(sortEvent(event, settings({ isSubscribed: true }))).toMatchObject({ kind: "command" });
    expect(sortEvent(event, settings({ respondTo: ["subscribed-thread"] }))).toMatchObject({
      kind: "ignore",
    });
  });

  it("never runs a command because of an edit", () => {
    const edited = messageEvent({ kind: "message-edited", message: { command: { name: "help", args: "" } } });
    expect(sortEvent(edited, settings())).toEqual({ kind: "correct" });
  });

  it("acknowledges every press, and lets it start a turn only where that is asked for", () => {
    const press = messageEvent({ kind: "action", action: { id: "1", data: "yes" } });
    expect(sortEvent(press, settings())).toEqual({ kind: "press", answer: false });
    expect(sortEvent(press, settings({ respondTo: ["action"] }))).toEqual({ kind: "press", answer: true });
  });

  it("ends the running answer for a press of the platform's stop button, whatever is answered", () => {
    const press = messageEvent({ kind: "stop", stop: { draftId: 7 } });
    expect(sortEvent(press, settings({ respondTo: [] }))).toEqual({ kind: "stop" });
  });

  it.each([
    ["another bot's message", messageEvent({ author: { userId: "9", isBot: true } })],
    ["a message of nothing", messageEvent({ message: { text: "  " } })],
    ["a service message", messageEvent({ kind: "service", detail: "joined" })],
    ["a kind that is not handled", messageEvent({ kind: "ignored", detail: "poll" })],
  ])("starts nothing for %s", (_what, event) => {
    expect(sortEvent(event, settings())).toMatchObject({ kind: "ignore" });
  });
});
