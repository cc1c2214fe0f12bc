import type { Clock } from "../../core/deps.ts";
import { InvalidInputError } from "../../core/errors.ts";
import { problem } from "../../core/problem.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";

/**
 * Longest time for a body to arrive, in milliseconds. Somebody without the secret must not hold a connection for long.
 */
const BODY_LIMIT_MS = 20_000;
/** Largest webhook body that is read, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Checks a webhook request before anything in it is used: the method, the secret in the header, the size, then a
 * signature over the body. A GET request is checked in the same way if the platform has handshakes. Returns the request
 * with its body in memory, or the response that refuses it.
 */
export async function admitWebhook(
  request: Request,
  definition: NormalizedMessengerDefinition,
  clock: Clock,
): Promise<Request | Response> {
  const isHandshake = request.method === "GET" && definition.platform.handshake !== undefined;
  if (request.method !== "POST" && !isHandshake) return methodNotAllowed(definition);
  const { verification } = definition.platform;
  if (definition.verifyWebhook !== false && verification.kind === "header") {
    if (!(await verification.verify(request.headers))) return unauthorized();
  }
  const isProven = verification.kind === "header" && typeof definition.verifyWebhook !== "function";
  if (isProven && isFramed(request)) return request;
  const body = await readBody(request, clock);
  if (body === "too-large") {
    return problem(413, "body-too-large", `The body of a webhook may have ${MAX_BODY_BYTES} bytes at most.`);
  }
  if (body === "too-slow") return problem(408, "body-too-slow", "The body of the request took too long.");
  const admitted = (): Request =>
    isHandshake
      ? new Request(request.url, { headers: request.headers })
      : new Request(request.url, { method: "POST", headers: request.headers, body });
  if (typeof definition.verifyWebhook === "function") {
    const verdict = await definition.verifyWebhook(admitted());
    if (verdict instanceof Response) return verdict;
    if (!verdict) return unauthorized();
  }
  return admitted();
}

/** Returns the response to a method that the messenger does not handle. */
export function methodNotAllowed({ platform }: NormalizedMessengerDefinition): Response {
  const allow = platform.handshake === undefined ? "POST" : "GET, POST";
  return problem(405, "method-not-allowed", "This is a webhook: send a POST request.", { allow });
}

function unauthorized(): Response {
  return problem(401, "unauthorized", "The secret or signature of the request is missing or wrong.");
}

/**
 * Tells whether the body's length was declared and is within the limit. HTTP then lets no more in, so the bytes need
 * not be counted while reading.
 */
function isFramed({ headers }: Request): boolean {
  const declared = headers.get("content-length");
  return (
    declared !== null &&
    !headers.has("transfer-encoding") &&
    /^\d{1,7}$/.test(declared) &&
    Number(declared) <= MAX_BODY_BYTES
  );
}

async function readBody(request: Request, clock: Clock): Promise<Uint8Array | "too-large" | "too-slow"> {
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
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
}
