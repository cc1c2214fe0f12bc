import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oggSeconds, writeOgg } from "../../../playground/telegram/page/ogg-opus.js";
import { webmToOgg } from "../../../playground/telegram/page/webm-to-ogg.js";
import { oggVoice } from "../../browser/sounds.ts";

const head = Buffer.from("OpusHead\u0001\u0001aaaabbbbccc", "latin1");
/** 20 ms of silence. */
const silence = Buffer.from([0xf8, 0xff, 0xfe]);

/** Reads the packets of an OGG file, and what its last page says about its length. */
function readOgg(bytes: Uint8Array) {
  const file = Buffer.from(bytes);
  const packets: Buffer[] = [];
  const pages: { readonly samples: number; readonly isLast: boolean }[] = [];
  for (let at = 0; at < file.length;) {
    expect(file.toString("latin1", at, at + 4)).toBe("OggS");
    expect(file.readUInt32LE(at + 18)).toBe(pages.length);
    const table = file.subarray(at + 27, at + 27 + file.readUInt8(at + 26));
    const start = at;
    pages.push({
      samples: Number(file.readBigUInt64LE(at + 6)),
      isLast: (file.readUInt8(at + 5) & 4) !== 0,
    });
    at += 27 + table.length;
    let length = 0;
    for (const entry of table) {
      length += entry;
      if (entry === 255) continue;
      packets.push(file.subarray(at, at + length));
      at += length;
      length = 0;
    }
    expect(length).toBe(0);
    const page = Buffer.from(file.subarray(start, at));
    const checksum = page.readUInt32LE(22);
    page.writeUInt32LE(0, 22);
    expect(checksumOf(page)).toBe(checksum);
  }
  return { packets, pages };
}

/** The checksum of an OGG page, bit by bit as RFC 3533 describes it. */
function checksumOf(page: Buffer): number {
  let sum = 0n;
  for (const byte of page) {
    sum ^= BigInt(byte) << 24n;
    for (let bit = 0; bit < 8; bit += 1) {
      sum <<= 1n;
      if (sum & 0x1_0000_0000n) sum ^= 0x1_04c1_1db7n;
    }
  }
  return Number(sum);
}

function element(id: readonly number[], content: Buffer, size: "known" | "unknown" = "known"): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(0x1000_0000 | content.length);
  return Buffer.concat([Buffer.from(id), size === "known" ? length : unknownSize, content]);
}
const unknownSize = Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);

/** A sound as Chromium records it: the sizes of segment and clusters are not known when they begin. */
function webm(clusters: readonly (readonly Buffer[])[]): Buffer {
  const codec = [element([0x86], Buffer.from("A_OPUS")), element([0x63, 0xa2], head)];
  const tracks = element([0x16, 0x54, 0xae, 0x6b], element([0xae], Buffer.concat(codec)));
  const blocks = clusters.map((packets) =>
    element(
      [0x1f, 0x43, 0xb6, 0x75],
      Buffer.concat([
        element([0xe7], Buffer.from([0])),
        ...packets.map((packet) => element([0xa3], Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), packet]))),
      ]),
      "unknown",
    ),
  );
  const header = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Buffer.from("webm")));
  return Buffer.concat([
    header,
    element([0x18, 0x53, 0x80, 0x67], Buffer.concat([tracks, ...blocks]), "unknown"),
  ]);
}

describe("a voice note that a browser has recorded", () => {
  it("keeps every packet, whatever its length, in an OGG file", () => {
    const packet = fc
      .uint8Array({ minLength: 0, maxLength: 700 })
      .map((bytes) => Buffer.concat([silence.subarray(0, 1), bytes]));
    const recorded = fc.array(fc.array(packet, { maxLength: 60 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(recorded, (clusters) => {
        const sent = clusters.flat();
        fc.pre(sent.length > 0);
        const { packets, pages } = readOgg(webmToOgg(webm(clusters)));
        expect(packets[0]).toEqual(head);
        expect(packets[1]?.toString("latin1", 0, 8)).toBe("OpusTags");
        expect(packets.slice(2)).toEqual(sent);
        expect(pages.map(({ isLast }) => isLast)).toEqual(
          pages.map((_, index) => index === pages.length - 1),
        );
        expect(pages.at(-1)?.samples).toBe(sent.length * 960);
      }),
      { numRuns: 20 },
    );
  });

  it("is refused when it has no sound", () => {
    expect(() => webmToOgg(webm([[]]))).toThrow("no sound");
    expect(() => webmToOgg(Buffer.from("something else"))).toThrow("no sound");
  });
});

describe("the length of a voice note", () => {
  it("is read from the file, and is at least a second", () => {
    expect(oggSeconds(oggVoice(7))).toBe(7);
    expect(oggSeconds(writeOgg(head, [silence]))).toBe(1);
    expect(oggSeconds(Buffer.from("no OGG file"))).toBe(1);
  });

  it.each([
    ["SILK, 60 ms", [0x18], 2880],
    ["hybrid, 10 ms, two frames", [0x61], 960],
    ["CELT, 2.5 ms", [0x80], 120],
    ["CELT, 20 ms, three frames", [0xfb, 0x03], 2880],
  ])("counts packets of %s", (_name, packet, samples) => {
    expect(readOgg(writeOgg(head, [Buffer.from(packet)])).pages.at(-1)?.samples).toBe(samples);
  });
});
