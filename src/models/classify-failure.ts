import type { ModelCallErrorCode, ModelCallFailure } from "./model-call-error.ts";

/**
 * Classifies a value that a model threw or sent as an error part: the AI SDK's `APICallError`, a network error, a
 * server's `{ type, code, message }` from inside the stream, or anything else. Never throws. The result has none of the
 * value's free text.
 *
 * @param hasOutput true if the model had already sent a part of its answer. A lost connection then means that the
 * answer was cut.
 */
export function classifyFailure(error: unknown, hasOutput: boolean): ModelCallFailure {
  const chain = causes(error);
  const status = firstDefined(chain, statusOf);
  const reason = firstDefined(chain, reasonOf);
  const text = chain.map(textOf).join("\n");
  const retryAfterMs = firstDefined(chain, retryAfterOf);
  const failure = (code: ModelCallErrorCode, retryable: boolean): ModelCallFailure => ({
    code,
    retryable,
    status,
    reason,
    retryAfterMs,
  });

  if (chain.some(isUnreadable)) return failure("model-failed", true);
  if ((status === undefined || OVERFLOW_STATUS.has(status)) && isContextOverflow(text)) {
    return failure("context-overflow", false);
  }
  if (status !== undefined) return byStatus(status, reason, failure);
  if (chain.some(isMissingKey)) return failure("model-unauthorized", false);
  if (chain.some(isUnsupported)) return failure("model-rejected", false);
  if (ENDED_EARLY.test(text)) return failure("model-cut", true);
  if (chain.some(isNetworkError)) return failure(hasOutput ? "model-cut" : "model-unreachable", true);
  return byReason(chain, failure);
}

/**
 * Tells whether an error means that the transcript is too long for the model: for `classifyChatError`. Knows the errors
 * of Anthropic, OpenAI, Google, Mistral, vLLM, llama.cpp and Ollama, which is what happens without the hook, too.
 */
export function defaultContextOverflowClassifier(error: unknown): "context_overflow" | undefined {
  return classifyFailure(error, false).code === "context-overflow" ? "context_overflow" : undefined;
}

type MakeFailure = (code: ModelCallErrorCode, retryable: boolean) => ModelCallFailure;

function byStatus(status: number, reason: string | undefined, failure: MakeFailure): ModelCallFailure {
  if (status === 401 || status === 403) return failure("model-unauthorized", false);
  if (status === 429) return failure("model-rate-limited", reason !== "insufficient_quota");
  if (status === 408 || status >= 500) return failure("model-overloaded", true);
  if (status >= 400) return failure("model-rejected", false);
  return failure("model-failed", true);
}

/** Errors inside a stream come after the 200, so only the server's own words tell their kind. */
function byReason(chain: readonly unknown[], failure: MakeFailure): ModelCallFailure {
  const words = chain.flatMap((link) => [stringField(link, "type"), stringField(link, "code")]).join(" ");
  if (/authentication|permission|invalid_api_key|unauthorized/.test(words)) {
    return failure("model-unauthorized", false);
  }
  if (/insufficient_quota/.test(words)) return failure("model-rate-limited", false);
  if (/rate_limit|too_many_requests/.test(words)) return failure("model-rate-limited", true);
  if (/overloaded|server_error|api_error|unavailable|timeout/.test(words)) {
    return failure("model-overloaded", true);
  }
  if (/invalid_request|not_found|unsupported/.test(words)) return failure("model-rejected", false);
  return failure("model-failed", true);
}

const OVERFLOW_STATUS = new Set([400, 413, 422]);

/** The words that OpenAI, Anthropic, Google, Mistral, vLLM, llama.cpp and Ollama use for it. */
const CONTEXT_OVERFLOW = [
  /context[ _-](length|window|size|limit)/i,
  /prompt is too long/i,
  /(prompt|input|request)[a-z ]* (is|are) too (long|large)/i,
  /too many (input |prompt )?tokens/i,
  /maximum (number of|allowed|input)[a-z ]* tokens/i,
  /input token count/i,
  /reduce the length of/i,
  /exceeds? the (available|model'?s?) context/i,
];

function isContextOverflow(text: string): boolean {
  return CONTEXT_OVERFLOW.some((pattern) => pattern.test(text));
}

const ENDED_EARLY = /ended without a finish reason|stream ended unexpectedly|premature(ly)? (close|end)/i;

/** The words of undici, workerd and the AI SDK. The error codes are those of Node and Bun. */
const NETWORK_TEXT =
  /fetch failed|failed to fetch|cannot connect|network connection lost|connection (refused|reset|closed)|terminated|socket|dns|getaddrinfo|unable to connect|internal error; reference/i;
const NETWORK_CODE =
  /^(E(CONN|HOST|NET|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND)\w*|UND_ERR_\w+|Connection(Refused|Closed)|FailedToOpenSocket)$/;

function isNetworkError(link: unknown): boolean {
  if (!(link instanceof Error)) return false;
  const code = stringField(link, "code");
  return (code !== undefined && NETWORK_CODE.test(code)) || NETWORK_TEXT.test(link.message);
}

/** Tells whether the answer has invalid bytes. Their text is the model's, so its words mean nothing. */
function isUnreadable(link: unknown): boolean {
  return link instanceof Error && /^AI_(JSONParse|TypeValidation)Error$/.test(link.name);
}

function isMissingKey(link: unknown): boolean {
  return link instanceof Error && link.name === "AI_LoadAPIKeyError";
}

function isUnsupported(link: unknown): boolean {
  return (
    link instanceof Error &&
    /^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchModel)Error$/.test(link.name)
  );
}

/** Returns the value and its causes, at most five. Real errors are not nested deeper. */
function causes(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let current = error;
  while (current !== undefined && current !== null && chain.length < 5 && !chain.includes(current)) {
    chain.push(current);
    const nested = field(current, "data");
    if (typeof nested === "object" && nested !== null) chain.push(field(nested, "error") ?? nested);
    current = field(current, "cause") ?? field(current, "lastError") ?? field(current, "error");
  }
  return chain;
}

function statusOf(link: unknown): number | undefined {
  const candidates = [field(link, "statusCode"), field(link, "status"), field(link, "code")];
  return candidates.map(Number).find((value) => Number.isInteger(value) && value >= 300 && value < 600);
}

/** Returns the server's short reason, if it is a known word. Other words could be secret. */
function reasonOf(link: unknown): string | undefined {
  const candidates = [stringField(link, "code"), stringField(link, "type")];
  return candidates.find((value) => value !== undefined && KNOWN_REASONS.has(value));
}

const KNOWN_REASONS: ReadonlySet<string> = new Set([
  "account_deactivated",
  "api_error",
  "authentication_error",
  "billing_error",
  "billing_not_active",
  "content_filter",
  "context_length_exceeded",
  "insufficient_quota",
  "internal_server_error",
  "invalid_api_key",
  "invalid_request_error",
  "model_not_found",
  "not_found_error",
  "overloaded_error",
  "permission_error",
  "rate_limit_error",
  "rate_limit_exceeded",
  "request_too_large",
  "server_error",
  "service_unavailable",
  "timeout_error",
  "unsupported_country_region_territory",
  "unsupported_parameter",
  "unsupported_value",
]);

const LONGEST_WAIT_MS = 10 * 60_000;

function retryAfterOf(link: unknown): number | undefined {
  const headers = field(link, "responseHeaders");
  const milliseconds = Number(stringField(headers, "retry-after-ms") ?? Number.NaN);
  const asked = stringField(headers, "retry-after") ?? "";
  const seconds = asked.trim() === "" ? Number.NaN : Number(asked);
  // A time of day is from the server's clock, which may differ from ours.
  const untilMs = Date.parse(asked) - Date.parse(stringField(headers, "date") ?? "");
  const wanted = [milliseconds, seconds * 1000, untilMs].find((value) => Number.isFinite(value));
  return wanted !== undefined && wanted >= 0 ? Math.min(wanted, LONGEST_WAIT_MS) : undefined;
}

/** Returns the text of an error. It is only searched, never kept. */
function textOf(link: unknown): string {
  if (typeof link === "string") return link;
  const parts = [
    field(link, "message"),
    field(link, "responseBody"),
    field(link, "code"),
    field(link, "type"),
  ];
  return parts.filter((part) => typeof part === "string").join("\n");
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function stringField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

function firstDefined<T>(links: readonly unknown[], read: (link: unknown) => T | undefined): T | undefined {
  for (const link of links) {
    const value = read(link);
    if (value !== undefined) return value;
  }
  return undefined;
}
