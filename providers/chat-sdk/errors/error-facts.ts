import { isRecord } from "../../../src/core/json/is-record.ts";
import { parseJson } from "../../../src/core/json/parse-json.ts";

/** Facts about a failed call, as far as the errors of an adapter and its client tell them. */
export interface ErrorFacts {
  /** The error that the adapter threw, its causes, and the error that the adapter logged. Outermost first. */
  readonly errors: readonly Readonly<Record<string, unknown>>[];
  /** Name of the class that the adapter threw. */
  readonly name: string;
  readonly message: string;
  /** HTTP status of the platform's answer. */
  readonly status: number | undefined;
  /** Waiting time that the platform asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The platform's answer. JSON is parsed. */
  readonly body: unknown;
  /** Returns a header of the platform's answer. */
  readonly header: (name: string) => string | undefined;
}

/** Most errors of a chain that are read. */
const MAX_ERRORS = 8;

/**
 * Collects the facts of a failed call.
 *
 * @param logged the error that the adapter logged during the call. Some adapters throw a class of the SDK that lacks
 *   the status and the headers, and log the error with them.
 * @param now in epoch milliseconds
 */
export function readErrorFacts(thrown: unknown, logged: unknown, now: number): ErrorFacts {
  const errors = [...chainOf(thrown), ...(hidesItsCause(thrown) ? chainOf(logged) : [])];
  const header = (name: string): string | undefined => first(errors, (error) => headerOf(error, name));
  const [outermost] = errors;
  return {
    errors,
    name: textOf(outermost?.name),
    message: textOf(outermost?.message),
    status: first(errors, statusOf),
    retryAfterMs: first(errors, waitOf) ?? retryAfterMs(header("retry-after"), now),
    body: first(errors, bodyOf),
    header,
  };
}

/** Classes of the SDK that an adapter throws instead of the error of its client. */
const WITHOUT_CAUSE = new Set(["AdapterRateLimitError", "AuthenticationError", "PermissionError"]);

function hidesItsCause(thrown: unknown): boolean {
  return isRecord(thrown) && WITHOUT_CAUSE.has(textOf(thrown.name));
}

function chainOf(error: unknown): Readonly<Record<string, unknown>>[] {
  const errors: Readonly<Record<string, unknown>>[] = [];
  const visit = (value: unknown): void => {
    if (!isRecord(value) || errors.includes(value) || errors.length >= MAX_ERRORS) return;
    errors.push(value);
    for (const name of ["originalError", "original", "innerHttpError", "cause"]) visit(value[name]);
    if (value.raw instanceof Error) visit(value.raw);
  };
  visit(error);
  return errors;
}

function statusOf(error: Readonly<Record<string, unknown>>): number | undefined {
  const response = isRecord(error.response) ? error.response : {};
  return [error.status, error.statusCode, response.status].find(
    (value): value is number => typeof value === "number" && value >= 100,
  );
}

/** Reads `retryAfter`, which counts seconds in the errors of adapters, and the SDK's own `retryAfterMs`. */
function waitOf({ retryAfter, retryAfterMs: ownMs }: Readonly<Record<string, unknown>>): number | undefined {
  if (typeof ownMs === "number" && ownMs >= 0) return Math.ceil(ownMs);
  return typeof retryAfter === "number" && retryAfter >= 0 ? Math.ceil(retryAfter * 1000) : undefined;
}

/** Reads a `Retry-After` header: seconds, or a date. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const waitMs = /^\d+(?:\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(waitMs) ? Math.max(0, Math.ceil(waitMs)) : undefined;
}

function headerOf(error: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const response = isRecord(error.response) ? error.response : {};
  for (const headers of [response.headers, error.headers]) {
    if (!isRecord(headers)) continue;
    // Clients have header classes of their own.
    const value: unknown = typeof headers.get === "function" ? headers.get(name) : headers[name];
    if (typeof value === "string") return value.trim();
    if (typeof value === "number") return String(value);
  }
  return undefined;
}

function bodyOf(error: Readonly<Record<string, unknown>>): unknown {
  const response = isRecord(error.response) ? error.response : {};
  const raw = error.raw instanceof Error ? undefined : error.raw;
  const body = response.data ?? error.data ?? error.body ?? raw ?? undefined;
  return typeof body === "string" ? parseJson(body, body) : body;
}

function first<Fact>(
  errors: readonly Readonly<Record<string, unknown>>[],
  read: (error: Readonly<Record<string, unknown>>) => Fact | undefined,
): Fact | undefined {
  for (const error of errors) {
    const fact = read(error);
    if (fact !== undefined) return fact;
  }
  return undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
