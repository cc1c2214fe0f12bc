import type { MessengerAttachment } from "../../../src/core/chat/messenger-event.ts";

/** The words that people write: each number once in a run. A place has the number behind its comma. */
export const WRITTEN = /(?:\b|\b1\.0)(m|pin|)(21\d\d)(?:-01-01|@mail\.example)?\b/g;
/** A whole message that would be the answer to a number, a date, an address or a place, if its question were open. No name of a file. */
export const ANSWER = /(?:\b|\b1\.0|\bpin)(21\d\d)(?:-01-01|@mail\.example|, 2)?\b(?!\.p)/g;

/** A message of a person. */
export interface WrittenMessage {
  readonly text: string;
  readonly attachments: readonly MessengerAttachment[];
}

/** The message with a number that is the answer to a field. */
export function writtenAs(field: string, number: number): WrittenMessage {
  const text = (words: string): WrittenMessage => ({ text: words, attachments: [] });
  switch (field) {
    case "Count":
      return text(String(number));
    case "Day":
      return text(`${number}-01-01`);
    case "Mail":
      return text(`${number}@mail.example`);
    case "Spot":
      return text(`1.0${number}, 2`);
    case "Pin":
      return text(`pin${number}`);
    case "Photo":
    case "File": {
      const attachment: MessengerAttachment = {
        kind: field === "Photo" ? "image" : "document",
        mediaType: "image/png",
        name: `${number}.png`,
        reference: { fileId: `m${number}` },
      };
      return { ...text(`m${number}`), attachments: [attachment] };
    }
    default:
      return text(`m${number}`);
  }
}
