/** Samples in a second of Opus, whatever the microphone's rate is. */
const samplesPerSecond = 48_000;
const longestTable = 255;
const packetsPerPage = 50;

/**
 * Writes packets of Opus as an OGG file, which is the form of Telegram's voice notes.
 *
 * @param {Uint8Array} head the packet `OpusHead`
 * @param {readonly Uint8Array[]} packets
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function writeOgg(head, packets) {
  const tags = new TextEncoder().encode("OpusTags\0\0\0\0\0\0\0\0");
  const pages = [oggPage(0, 2, 0, [head]), oggPage(1, 0, 0, [tags])];
  let samples = 0;
  for (let at = 0; at < packets.length;) {
    const taken = nextPage(packets, at);
    at += taken.length;
    samples += taken.reduce((sum, packet) => sum + samplesOf(packet), 0);
    pages.push(oggPage(pages.length, at === packets.length ? 4 : 0, samples, taken));
  }
  return joinBytes(pages);
}

/**
 * Returns the length of an OGG file with Opus in whole seconds, at least 1.
 *
 * @param {Uint8Array} bytes
 */
export function oggSeconds(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = bytes.length - 27; at >= 0; at -= 1) {
    if (view.getUint32(at) !== 0x4f_67_67_53) continue; // "OggS"
    return Math.max(1, Math.round(Number(view.getBigUint64(at + 6, true)) / samplesPerSecond));
  }
  return 1;
}

/** Returns the packets from `from` on that fit into one page. */
function nextPage(packets, from) {
  let entries = 0;
  let to = from;
  while (to < packets.length && to - from < packetsPerPage) {
    entries += tableOf(packets[to]).length;
    if (entries > longestTable && to > from) break;
    to += 1;
  }
  return packets.slice(from, to);
}

/** Returns a packet's entries in the table of its page: 255 for each full piece, then the rest, also if it is 0. */
function tableOf(packet) {
  return [...Array.from({ length: Math.floor(packet.length / 255) }, () => 255), packet.length % 255];
}

function oggPage(number, flags, samples, packets) {
  const table = packets.flatMap(tableOf);
  const page = joinBytes([new Uint8Array(27), Uint8Array.from(table), ...packets]);
  const view = new DataView(page.buffer);
  page.set(new TextEncoder().encode("OggS"));
  view.setUint8(5, flags);
  view.setBigUint64(6, BigInt(samples), true);
  view.setUint32(14, 1, true);
  view.setUint32(18, number, true);
  view.setUint8(26, table.length);
  view.setUint32(22, checksum(page), true);
  return page;
}

/** Returns the samples that a packet stands for. Its first byte tells them (RFC 6716, section 3.1). */
function samplesOf(packet) {
  const [first = 0, second = 0] = packet;
  const code = first >> 3;
  const milliseconds =
    code < 12 ? [10, 20, 40, 60][code % 4] : code < 16 ? [10, 20][code % 2] : [2.5, 5, 10, 20][code % 4];
  const frames = [1, 2, 2, second & 63][first & 3];
  return (milliseconds * frames * samplesPerSecond) / 1000;
}

function checksum(bytes) {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = sum < 0 ? (sum << 1) ^ 0x04_c1_1d_b7 : sum << 1;
  }
  return sum >>> 0;
}

function joinBytes(pieces) {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
