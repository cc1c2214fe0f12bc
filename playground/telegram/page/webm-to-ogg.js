import { writeOgg } from "./ogg-opus.js";

const elements = { codecPrivate: 0x63_a2, simpleBlock: 0xa3, block: 0xa1 };
/** Elements that hold others: segment, tracks, track, cluster, group of a block. Their content is read like the rest. */
const containers = new Set([0x18_53_80_67, 0x16_54_ae_6b, 0xae, 0x1f_43_b6_75, 0xa0]);

/**
 * Puts a sound that a browser has recorded as WebM with Opus into an OGG file. The sound itself stays as it is.
 *
 * @param {Uint8Array} bytes
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {Error} when there is no Opus in it
 */
export function webmToOgg(bytes) {
  let head;
  const packets = [];
  for (let at = 0; at < bytes.length;) {
    const { value: id, next } = readNumber(bytes, at, "id");
    const { value: size, next: start } = readNumber(bytes, next);
    if (containers.has(id)) {
      at = start;
      continue;
    }
    const content = bytes.subarray(start, start + size);
    if (id === elements.codecPrivate) head = content;
    if (id === elements.simpleBlock || id === elements.block) packets.push(packetOf(content));
    at = start + size;
  }
  if (head === undefined || packets.length === 0)
    throw new Error("The recording has no sound. Record for a second or longer.");
  return writeOgg(head, packets);
}

/** Reads a number of 1 to 8 bytes. The zeros before its first one tell how many more bytes it has. An id keeps that one. */
function readNumber(bytes, at, kind = "size") {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  let value = kind === "id" ? first : first & (0xff >> length);
  for (let index = 1; index < length; index += 1) value = value * 256 + (bytes[at + index] ?? 0);
  return { value, next: at + length };
}

/** Returns the packet of a block, which follows the track's number, the time (two bytes) and the flags. */
function packetOf(block) {
  const { next } = readNumber(block, 0);
  const hasSeveral = ((block[next + 2] ?? 0) & 0x06) !== 0;
  if (hasSeveral)
    throw new Error("The recording has several packets in a block, which browsers do not write.");
  return block.subarray(next + 3);
}
