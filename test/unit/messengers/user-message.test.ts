import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import type { MessengerAttachment, MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { parseStoredFile, userParts } from "../../../src/messengers/turns/user-message.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";

const settings = { acceptsMedia: ["image/*"], maxMediaBytes: 1000, channelSpeakerLabel: undefined };
const parts = (events: MessengerEvent[], overrides: object = {}) =>
  userParts(
    events,
    () => ({ ...settings, ...overrides }),
    createLog(() => {}),
  );
const textOf = (events: MessengerEvent[], overrides: object = {}) => {
  const [first] = parts(events, overrides);
  return first?.type === "text" ? first.text : undefined;
};
const group = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
const photo: MessengerAttachment = {
  kind: "image",
  mediaType: "image/jpeg",
  sizeBytes: 500,
  reference: { fileId: "F" },
};

describe("userParts", () => {
  it("joins a burst into one message, line by line", () => {
    const lines = ["Hi", "where is", "my order?"].map((text) => messageEvent({ message: { text } }));
    expect(textOf(lines)).toBe("Hi\nwhere is\nmy order?");
  });

  it.each([
    () => {
      throw new Error("no");
    },
    () => undefined as never,
  ])("names the speaker as usual when the bot's own label cannot be made", (channelSpeakerLabel) => {
    expect(textOf([messageEvent({ thread: group })], { channelSpeakerLabel })).toBe("Ada Lovelace: Hello");
  });

  it("names the speaker in a group and never in a private chat", () => {
    expect(textOf([messageEvent({ thread: group })])).toBe("Ada Lovelace: Hello");
    expect(textOf([messageEvent()])).toBe("Hello");
  });

  it("falls back from full name to user name to user id", () => {
    expect(textOf([messageEvent({ thread: group, author: { userId: "7", userName: "ada" } })])).toBe(
      "ada: Hello",
    );
    expect(textOf([messageEvent({ thread: group, author: { userId: "7" } })])).toBe("7: Hello");
  });

  it("lets a bot choose the label, or none", () => {
    const event = messageEvent({ thread: group });
    expect(textOf([event], { channelSpeakerLabel: false })).toBe("Hello");
    expect(textOf([event], { channelSpeakerLabel: () => "A." })).toBe("A.: Hello");
  });

  it("brings the text of a quoted message", () => {
    const quoted = {
      id: "9",
      text: "Shall we meet?",
      isFromBot: false,
      author: { userId: "8", fullName: "Bob" },
      attachments: [],
    };
    expect(textOf([messageEvent({ message: { text: "yes", quoted } })])).toBe(
      '[In reply to Bob\'s message: "Shall we meet?"]\nyes',
    );
  });

  it("says a sticker once, and describes one without words", () => {
    const sticker: MessengerAttachment = {
      kind: "sticker",
      mediaType: "video/webm",
      reference: { fileId: "S" },
    };
    const sent = (text: string) => textOf([messageEvent({ message: { text, attachments: [sticker] } })]);
    expect(sent("[Sticker: 🙂]")).toBe("[Sticker: 🙂]");
    expect(sent("")).toBe("[sticker: video/webm]");
  });

  it("passes an accepted picture as a reference that holds no URL", () => {
    const file = parts([messageEvent({ message: { attachments: [photo] } })])[1];
    expect(file).toMatchObject({ type: "file", mediaType: "image/jpeg" });
    expect(file?.type === "file" ? parseStoredFile(file.url) : undefined).toEqual({
      messengerId: "telegram",
      reference: { fileId: "F" },
      kind: "image",
    });
  });

  it.each([
    ["*", "application/zip", true],
    ["*/*", "application/zip", true],
    ["image/*", "Image/PNG", true],
    ["Application/PDF", "application/pdf", true],
    ["image/*", "imagery/png", false],
    ["application/*", "application", false],
  ])("takes a file for %s that is announced as %s: %s", (accepted, mediaType, isTaken) => {
    const document = { kind: "document", name: "a.x", mediaType, sizeBytes: 500, reference: {} } as const;
    const said = parts([messageEvent({ message: { text: "see", attachments: [document] } })], {
      acceptsMedia: [accepted],
    });
    expect(said.map(({ type }) => type)).toEqual(isTaken ? ["text", "file"] : ["text"]);
  });

  it.each([
    ["README", "application/octet-stream", true],
    ["Makefile", undefined, true],
    [".gitignore", undefined, true],
    ["data.bin", "application/octet-stream", false],
    ["movie", "video/mp4", false],
    [undefined, "application/octet-stream", false],
  ])("hands over a document that may be text: %s of type %s, %s", (name, mediaType, isHandedOver) => {
    const document = { kind: "document", name, mediaType, sizeBytes: 500, reference: {} } as const;
    const said = parts([messageEvent({ message: { text: "see", attachments: [document] } })]);
    expect(said.map(({ type }) => type)).toEqual(isHandedOver ? ["text", "file"] : ["text"]);
  });

  it.each([
    [
      "a kind that is not accepted",
      { kind: "document", mediaType: "application/pdf", name: "a.pdf", sizeBytes: 500 },
      "[document: a.pdf, application/pdf, 500 bytes]",
    ],
    ["a file that is too large", { ...photo, sizeBytes: 5000 }, "[image: image/jpeg, 5 KB]"],
  ])("describes %s in a line", (_what, attachment, line) => {
    const event = messageEvent({
      message: { text: "see", attachments: [{ reference: {}, ...attachment } as MessengerAttachment] },
    });
    expect(parts([event])).toEqual([{ type: "text", text: `see\n${line}` }]);
  });

  it("takes text files although only pictures are accepted", () => {
    const csv: MessengerAttachment = {
      kind: "document",
      mediaType: "text/csv",
      name: "a.csv",
      sizeBytes: 20,
      reference: { fileId: "C" },
    };
    expect(parts([messageEvent({ message: { attachments: [csv] } })])[1]).toMatchObject({
      type: "file",
      mediaType: "text/csv",
    });
  });
});
