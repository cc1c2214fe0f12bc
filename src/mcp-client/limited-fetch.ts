import { bytesUpTo } from "../core/bytes/bytes-up-to.ts";
import { parseJson } from "../core/json/parse-json.ts";
import { isRecord } from "../core/json/is-record.ts";
import { streamOf } from "../core/bytes/stream-of.ts";

/** Largest answer of a server to one request, in bytes. */
export const MOST_BYTES = 4 * 1024 * 1024;
/** Largest refusal that is read. */
const MOST_REFUSAL_BYTES = 65_536;

/** Codes of errors that stand for an answer which did not arrive, in the range of implementations. */
export const TOO_LARGE = -32_098;
export const CUT_OFF = -32_097;

/**
 * Returns the network of one connection. Every answer has a limit, and an answer that is too large or breaks off becomes
 * an error for its own request: other requests of the connection continue.
 *
 * No stream stays open between two calls, so an object can rest: the request for one is answered here.
 */
export function limitedFetch(base: typeof fetch, mostBytes = MOST_BYTES): typeof fetch {
  return async (url, init) => {
    const isResuming = new Headers(init?.headers).has("last-event-id");
    if (init?.method === "GET" && !isResuming) return new Response(null, { status: 405 });
    const response = await base(url, init);
    const { body, headers, status, statusText } = response;
    if (body === null || (status >= 300 && status < 400)) return response;
    const options = { status, statusText, headers };
    if (!response.ok) {
      const refusal = await bytesUpTo(MOST_REFUSAL_BYTES, body);
      return new Response(refusal, options);
    }
    const id = requestIdOf(init?.body);
    if (headers.get("content-type")?.includes("text/event-stream") === true)
      return new Response(streamOf(limitedEvents(body, id, mostBytes)), options);
    const read = await bytesUpTo(mostBytes, body);
    return read === undefined ? Response.json(failed(id, TOO_LARGE)) : new Response(read, options);
  };
}

function requestIdOf(body: unknown): unknown {
  const message = typeof body === "string" ? parseJson(body) : undefined;
  return isRecord(message) ? message["id"] : undefined;
}

function failed(id: unknown, code: number): object {
  const message = code === TOO_LARGE ? "The answer is too large." : "The answer broke off.";
  return { jsonrpc: "2.0", id: id ?? null, error: { code, message } };
}

/** The events of a stream, which ends with an answer in any case. An answer that was given already counts. */
async function* limitedEvents(
  body: ReadableStream<Uint8Array>,
  id: unknown,
  most: number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  let canResume = false;
  let code = CUT_OFF;
  try {
    for await (const piece of body) {
      length += piece.byteLength;
      if (length > most) {
        code = TOO_LARGE;
        break;
      }
      // The client can ask for the rest of a stream whose events have ids.
      canResume ||= /(?:^|\n)id:/.test(new TextDecoder().decode(piece));
      yield piece;
    }
  } catch (error) {
    if (canResume) throw error;
  }
  if (id === undefined || (canResume && code !== TOO_LARGE)) return;
  yield new TextEncoder().encode(`\n\ndata: ${JSON.stringify(failed(id, code))}\n\n`);
}
