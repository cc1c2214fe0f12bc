import { bytesUpTo } from "../core/bytes/bytes-up-to.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import { isRecord } from "../core/json/is-record.ts";
import { isHost, parsePublicUrl } from "../core/web/public-url.ts";
import type { ExtensionResponse } from "./extension-api.ts";

const MOST_BYTES = 512 * 1024;
const MOST_HEADERS = 32;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const ADDRESS = { code: "extension-address", owner: "An extension's" };

/** A call of `host.fetch`, as the code of an extension gives it. */
export interface ExtensionRequest {
  readonly url: unknown;
  readonly init: unknown;
  readonly signal: AbortSignal;
}

/**
 * Calls a public https address on one of the hosts. No redirect is followed: the code gets it, and its next call is
 * checked again.
 *
 * @throws {SwitchboardError} `extension-address`, `extension-request`, `extension-network`
 */
export async function fetchPublic(
  network: typeof fetch,
  hosts: readonly string[],
  { init, signal, url }: ExtensionRequest,
): Promise<ExtensionResponse> {
  const address = parsePublicUrl(String(url), undefined, ADDRESS);
  if (!hosts.some((host) => isHost(address.hostname, host)))
    throw new SwitchboardError(ADDRESS.code, "The host of the address is not in permissions.network.");
  const request = requestOf(init);
  let response: Response;
  try {
    response = await network(address.href, { ...request, redirect: "manual", signal });
  } catch {
    // The words of the network may name addresses of this machine.
    throw new SwitchboardError("extension-network", "The address could not be reached.");
  }
  const headers = [...response.headers].filter(([name]) => name !== "set-cookie").slice(0, MOST_HEADERS);
  return { status: response.status, headers: Object.fromEntries(headers), body: await textOf(response) };
}

function requestOf(init: unknown): { method: string; headers: Record<string, string>; body?: string } {
  const { body, headers = {}, method = "GET" } = isRecord(init) ? init : {};
  const entries = isRecord(headers) ? Object.entries(headers) : [];
  const isFit =
    METHODS.includes(String(method)) &&
    (body === undefined || typeof body === "string") &&
    entries.length <= MOST_HEADERS &&
    entries.every(
      ([name, value]) => /^[\w-]{1,64}$/.test(name) && /^[\x20-\x7e]{0,4096}$/.test(String(value)),
    );
  if (!isFit)
    throw new SwitchboardError(
      "extension-request",
      `A request has a method (${METHODS.join(", ")}), headers of texts, and a text as its body.`,
    );
  const texts = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  return { method: String(method), headers: texts, ...(typeof body === "string" && { body }) };
}

async function textOf({ body }: Response): Promise<string> {
  const bytes = await bytesUpTo(MOST_BYTES, body);
  if (bytes !== undefined) return new TextDecoder().decode(bytes);
  throw new SwitchboardError("extension-network", `The answer has more than ${MOST_BYTES} bytes.`);
}
