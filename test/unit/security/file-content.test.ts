import { describe, expect, it } from "vitest";
import { fileContent } from "../../../src/messengers/turns/file-content.ts";
import { MAYBE_TEXT } from "../../../src/messengers/turns/user-message.ts";

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("a file for the model", () => {
  it.each([
    ["\u0089PNG\r\n\u001a\n...", "image/png", "image/png"],
    ["\u00ff\u00d8\u00ff\u00e0...", "image/png", "image/jpeg"],
    ["GIF89a...", "image/anything", "image/gif"],
    ["RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", "IMAGE/WEBP", "image/webp"],
    ["%PDF-1.7", "application/pdf", "application/pdf"],
    ["OggS\u0000...OpusHead", "audio/ogg", "audio/ogg"],
    ["ID3\u0004", "audio/mpeg", "audio/mpeg"],
    ["\u00ff\u00fb\u0090d", "audio/mp3", "audio/mpeg"],
    ["\u0000\u0000\u0000\u001cftypM4A ", "audio/x-m4a", "audio/mp4"],
    ["RIFF\u0001\u0002\u0003\u0004WAVEfmt ", "audio/mpeg", "audio/wav"],
    ["anything", "video/mp4", "video/mp4"],
  ])("takes %j, announced as %s, for %s", (start, announced, mediaType) => {
    const bytes = bytesOf(start);
    expect(fileContent({ bytes }, announced, undefined)).toEqual({ kind: "bytes", bytes, mediaType });
  });

  it.each([
    ["<html>please sign in", "image/png"],
    ["PK\u0003\u0004", "image/jpeg"],
    ["<svg onload='x'/>", "image/svg+xml"],
    ["", "image/gif"],
    ["\u0089PNG\r\n\u001a\n", "application/pdf"],
    ["%PDF-1.7", "image/png"],
    ["MZ", "application/pdf"],
    ["<html>", "audio/ogg"],
    ["RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", "audio/wav"],
  ])(
    "refuses %j, which was announced as %s, because a model's server refuses all with it",
    (start, announced) => {
      expect(() => fileContent({ bytes: bytesOf(start) }, announced, undefined)).toThrow(
        expect.objectContaining({ code: "attachment-media-type" }) as Error,
      );
    },
  );

  const guess = MAYBE_TEXT;
  it.each([
    ["gr\u00c3\u00bc\u00c3\u009fe", "text/plain", "grüße"],
    ["gr\u00fc\u00dfe", "text/plain", "grüße"],
    ["\u00ff\u00feg\u0000\u00fc\u0000", "text/plain", "gü"],
    ["gr\u00c3\u00bc\u00c3\u009fe", guess, "grüße"],
  ])("reads %j of type %s", (bytes, mediaType, text) => {
    expect(fileContent({ bytes: bytesOf(bytes) }, mediaType, "a")).toEqual({
      kind: "text",
      text: `[File a]\n${text}`,
    });
  });

  it.each([
    ["a\u0000b", "text/plain"],
    ["gr\u00fc\u00dfe", guess],
    ["\u0089PNG\r\n\u001a\n\u0000", guess],
  ])("does not take %j of type %s for text", (bytes, mediaType) => {
    expect(() => fileContent({ bytes: bytesOf(bytes) }, mediaType, "a")).toThrow(
      expect.objectContaining({ code: "attachment-media-type" }) as Error,
    );
  });

  it("reads a text file that is short enough, whatever its size was said to be", () => {
    expect(fileContent({ bytes: bytesOf("a,b") }, "text/csv", "a.csv")).toEqual({
      kind: "text",
      text: "[File a.csv]\na,b",
    });
    const long = { bytes: new Uint8Array(200_001) };
    expect(() => fileContent(long, "text/plain", "a.txt")).toThrow(
      expect.objectContaining({ code: "attachment-too-large" }) as Error,
    );
  });
});
