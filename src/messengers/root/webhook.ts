import type { Clock } from "../../core/base/deps.ts";
import { problem } from "../../core/web/problem.ts";
import { MAX_BODY_BYTES, readBody } from "../../core/web/read-body.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";

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
