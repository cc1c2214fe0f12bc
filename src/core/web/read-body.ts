import type { Clock } from "../base/deps.ts";
import { InvalidInputError } from "../base/errors.ts";
import { joinBytes } from "../bytes/join-bytes.ts";

/**
 * Longest time for a body to arrive, in milliseconds. Somebody without the secret must not hold a connection for long.
 */
const BODY_LIMIT_MS = 20_000;
/** Largest body that is read, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Reads the body of a request, within the limits of size and time. */
export async function readBody(
  request: Request,
  clock: Clock,
): Promise<Uint8Array | "too-large" | "too-slow"> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > MAX_BODY_BYTES) return "too-large";
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  let isTooSlow = false;
  const limit = clock.setTimeout(() => {
    isTooSlow = true;
    reader.cancel().catch(() => undefined);
  }, BODY_LIMIT_MS);
  try {
    const body = await readAll(reader);
    return isTooSlow ? "too-slow" : body;
  } catch (error) {
    if (isTooSlow) return "too-slow";
    throw error;
  } finally {
    clock.clearTimeout(limit);
  }
}

async function readAll(reader: ReadableStreamDefaultReader<unknown>): Promise<Uint8Array | "too-large"> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!(value instanceof Uint8Array))
      throw new InvalidInputError("body-unreadable", "The body is not made of bytes.");
    length += value.byteLength;
    if (length > MAX_BODY_BYTES) {
      await reader.cancel();
      return "too-large";
    }
    chunks.push(value);
  }
  return joinBytes(chunks);
}
