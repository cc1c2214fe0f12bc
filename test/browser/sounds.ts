/** A quiet tone as WAV: 8 kHz, mono, 8 bits. */
export function wavSound(seconds: number): Buffer {
  const rate = 8000;
  const samples = Buffer.from(
    Array.from(
      { length: rate * seconds },
      (_, at) => 128 + Math.round(10 * Math.sin((at * 440 * 6.283) / rate)),
    ),
  );
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** A packet of 20 ms of silence. */
const silence = Buffer.from([0xf8, 0xff, 0xfe]);
const packetSamples = 960;

/** A silent voice note: OGG with Opus, as Telegram's clients record it. */
export function oggVoice(seconds: number): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0);
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt32LE(48_000, 12);
  const tags = Buffer.alloc(16);
  tags.write("OpusTags", 0);
  const pages = [oggPage(0, 2, 0, [head]), oggPage(1, 0, 0, [tags])];
  for (let second = 1; second <= seconds; second += 1) {
    const packets = Array.from({ length: 50 }, () => silence);
    const isLast = second === seconds;
    pages.push(oggPage(second + 1, isLast ? 4 : 0, second * 50 * packetSamples, packets));
  }
  return Buffer.concat(pages);
}

function oggPage(number: number, flags: number, position: number, packets: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(27 + packets.length);
  head.write("OggS", 0);
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(position), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(number, 18);
  head.writeUInt8(packets.length, 26);
  for (const [index, packet] of packets.entries()) head.writeUInt8(packet.length, 27 + index);
  const page = Buffer.concat([head, ...packets]);
  page.writeUInt32LE(oggChecksum(page), 22);
  return page;
}

function oggChecksum(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}
