import { joinBytes } from "./join-bytes.ts";

/** Reads a body. Undefined if it has more bytes: the rest is not read. */
export async function bytesUpTo(
  most: number,
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    // Leaving the loop cancels the body.
    if (length > most) return undefined;
    pieces.push(piece);
  }
  return joinBytes(pieces);
}
