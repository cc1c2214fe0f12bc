import { outcomeUnknown } from "../../actions/declare/action-errors.ts";
import { hideSecrets } from "../../core/text/hide-secrets.ts";
import { bytesUpTo } from "../../core/bytes/bytes-up-to.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import { shortLine } from "../../core/text/short-line.ts";
import { isJson } from "./api-document.ts";
import { nestedPairs } from "./nested-pairs.ts";

/** One call of a service, as `request` of a connector gets it. */
export interface OpenApiRequestOptions {
  /** The path below `baseUrl`, with its parameters filled in and encoded. */
  readonly path: string;
  /** Upper case. @default "GET" */
  readonly method?: string;
  /** Parameters of the query. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** The body as a value. `content-type` of the headers says how to write it. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The access to a service. No value of it is ever shown to a model, a person or the log. */
export interface OpenApiCredentials {
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters of the query. */
  readonly params?: Readonly<Record<string, string>>;
}

export interface SentRequest {
  readonly base: URL;
  readonly options: OpenApiRequestOptions;
  readonly credentials: OpenApiCredentials;
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>;
  readonly signal: AbortSignal | undefined;
  /** Largest answer, in bytes. */
  readonly maxBytes: number;
  readonly isRead: boolean;
  /** Whether a second call with the same headers has no second effect. */
  readonly isRepeatable: boolean;
  /** Hears how a call failed: the status, or a word. */
  readonly onFailure: (reason: string) => void;
}

const MOST_REDIRECTS = 3;
const LONGEST_WORDS = 500;
const MOST_REFUSAL_BYTES = 16_384;

/**
 * Makes one call of a service, on the origin of `base` only, and returns its answer, or its failure as a value. A
 * redirect is followed for reads on the same origin only, so credentials never leave it.
 *
 * A write whose answer is lost is not repeated, unless it is repeatable. Its outcome is then unknown, and never a failure.
 */
export async function sendRequest(sent: SentRequest): Promise<unknown> {
  const { credentials, isRead, isRepeatable, onFailure } = sent;
  const [first, again] = [await attempt(sent), () => attempt(sent)];
  const isLost = first.kind === "lost" && sent.signal?.aborted !== true;
  const end = isLost && (isRead || isRepeatable) ? await again() : first;
  if (end.kind !== "answer") onFailure(end.reason);
  const value =
    end.kind === "answer"
      ? end.value
      : end.kind === "refused"
        ? apiError(end.message)
        : isRead
          ? apiError(`The service did not answer (${end.reason}). Try again later.`)
          : outcomeUnknown();
  return hideSecrets(value, secretsOf(credentials));
}

type End =
  | { readonly kind: "answer"; readonly value: unknown }
  | { readonly kind: "refused"; readonly reason: string; readonly message: string }
  | { readonly kind: "lost"; readonly reason: string };

async function attempt(sent: SentRequest): Promise<End> {
  const { base, credentials, isRead, options, signal } = sent;
  const { body, headers, method = "GET" } = options;
  let init: RequestInit;
  try {
    const all = new Headers(headers);
    all.set("accept", "application/json, text/*;q=0.5");
    for (const [name, value] of Object.entries(credentials.headers ?? {})) all.set(name, value);
    const written = body === undefined ? undefined : writtenBody(body, all.get("content-type") ?? "");
    init = {
      method,
      headers: all,
      redirect: "manual",
      ...(written !== undefined && { body: written }),
      ...(signal && { signal }),
    };
  } catch {
    // A line break in a header, for example. The value may be a credential.
    return refusal("header", "A header has characters that cannot be sent. Nothing was done.");
  }
  let url = addressOf(base, options, credentials);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    let response: Response;
    try {
      response = await sent.fetch(url.href, init);
    } catch {
      // The message may have the address, whose query can hold a credential.
      return { kind: "lost", reason: "network" };
    }
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null)
      return answerOf(response, sent).catch((): End => ({ kind: "lost", reason: "broken answer" }));
    await response.body?.cancel();
    const next = URL.parse(location, url.href);
    if (!isRead) return { kind: "answer", value: { status: response.status, note: REDIRECTED } };
    if (next?.origin !== base.origin)
      return refusal("redirect", "The service redirects to another host, which is never followed.");
    url = next;
  }
  return refusal("redirect", "The service redirects too often.");
}

const REDIRECTED =
  "The service answered with a redirect, which is not followed after a change. Read the state to find out what it did.";

/** The document and the model choose the path and the query, and never the host. */
function addressOf(
  base: URL,
  { params = {}, path }: OpenApiRequestOptions,
  credentials: OpenApiCredentials,
): URL {
  const url = new URL(base);
  // A setter never reads a host from its value.
  url.pathname = `${base.pathname.replace(/\/$/, "")}${path}`;
  for (const [name, value] of Object.entries(params))
    for (const one of typeof value === "string" ? [value] : value) url.searchParams.append(name, one);
  for (const [name, value] of Object.entries(credentials.params ?? {})) url.searchParams.set(name, value);
  return url;
}

function writtenBody(body: unknown, contentType: string): string {
  if (contentType.startsWith("text/")) return typeof body === "string" ? body : JSON.stringify(body);
  if (isJson(contentType)) return JSON.stringify(body);
  const pairs = typeof body === "object" && body !== null ? Object.entries(body) : [];
  return new URLSearchParams(pairs.flatMap(([key, value]) => nestedPairs(key, value))).toString();
}

async function answerOf(response: Response, { isRead, maxBytes, options }: SentRequest): Promise<End> {
  const { headers, status } = response;
  const type = headers.get("content-type") ?? "";
  if (!response.ok) return failedAnswer(response, type);
  if (options.method === "HEAD")
    return {
      kind: "answer",
      value: Object.fromEntries([...headers].filter(([name]) => name !== "set-cookie")),
    };
  if (type !== "" && !isJson(type) && !/^(?:text\/|application\/(?:xml|javascript|yaml))/i.test(type)) {
    await response.body?.cancel();
    return {
      kind: "answer",
      value: { status, note: `The answer is a file (${shortLine(type, 80)}), which code cannot read.` },
    };
  }
  const text = await textUpTo(maxBytes, response);
  if (text === undefined) {
    const words = `has more than ${maxBytes} bytes`;
    return isRead
      ? refusal("too-large", `The answer ${words}. Ask for less: fewer fields, or a page.`)
      : { kind: "answer", value: { status, note: `The call worked. Its answer ${words}, and is left out.` } };
  }
  if (text === "") return { kind: "answer", value: null };
  return { kind: "answer", value: isJson(type) ? parseJson(text, text) : text };
}

/** A 5xx says nothing about what has happened before it. All other refusals are certain. */
async function failedAnswer(response: Response, type: string): Promise<End> {
  const { headers, status } = response;
  const words = await textUpTo(MOST_REFUSAL_BYTES, response).catch(() => undefined);
  if (status >= 500) return { kind: "lost", reason: String(status) };
  const said = words === undefined || /html/i.test(type) ? "" : shortLine(words, LONGEST_WORDS);
  const wait = headers.get("retry-after");
  return refusal(
    String(status),
    [
      `The service answered ${status}${status === 401 || status === 403 ? ": the bot may not do this" : ""}.`,
      ...(wait === null ? [] : [`Try again after ${shortLine(wait, 40)}${/^\d+$/.test(wait) ? " s" : ""}.`]),
      ...(said === "" ? [] : [said]),
    ].join(" "),
  );
}

/** Reads a body as text. Undefined if it is larger. */
async function textUpTo(most: number, { body }: Response): Promise<string | undefined> {
  const bytes = await bytesUpTo(most, body);
  return bytes && new TextDecoder().decode(bytes);
}

function refusal(reason: string, message: string): End {
  return { kind: "refused", reason, message };
}

/** The words of a failure are the service's, so they are a value and never an exception, which is logged. */
function apiError(message: string): object {
  return { error: { name: "ApiError", message } };
}

/** Queries and JSON show a value in their own form. */
function secretsOf({ headers = {}, params = {} }: OpenApiCredentials): readonly string[] {
  return [...Object.values(headers), ...Object.values(params)].flatMap((value) => [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
  ]);
}
