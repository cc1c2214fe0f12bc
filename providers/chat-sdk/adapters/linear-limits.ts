import type { Adapter } from "chat";
import { keepHeaders } from "../errors/call-pauses.ts";
import type { ReadHeader } from "../errors/call-pauses.ts";
import { replaceMethod } from "./search/post-key.ts";

/** Longest pause: Linear counts in hours, and gives back what was used all the time. */
const MOST_MS = 60_000;

interface LinearClient {
  readonly client: GraphQLClient;
}
interface GraphQLClient {
  rawRequest(query: unknown, variables: unknown, headers: unknown): Promise<RawAnswer>;
}
interface RawAnswer {
  readonly data: unknown;
  readonly headers: Headers;
}

/** Keeps the headers of every answer. Each workspace has a client. */
export function watchAnswers(adapter: Adapter): void {
  const watched = new WeakSet<LinearClient>();
  replaceMethod(adapter, "getClient", (get) => () => {
    const linear = get() as LinearClient;
    if (!watched.has(linear)) {
      watched.add(linear);
      replaceMethod(linear.client, "request", (request) => requestOf(linear.client, request));
    }
    return linear;
  });
}

/** The client tells the headers of raw requests alone, which take a query as text. */
function requestOf(client: GraphQLClient, request: (...args: unknown[]) => unknown) {
  return async (query: unknown, variables: unknown, headers: unknown): Promise<unknown> => {
    if (typeof query !== "string") return request(query, variables, headers);
    const answer = await client.rawRequest(query, variables, headers);
    keepHeaders((name) => answer.headers.get(name));
    return answer.data;
  };
}

/** Returns the pause of an account that has no calls left, or less complexity than its last call has cost. */
export function pauseOf(header: ReadHeader, now: number): number | undefined {
  const number = (name: string): number => Number(header(name) ?? NaN);
  const hasNone =
    number("x-ratelimit-requests-remaining") === 0 ||
    number("x-ratelimit-complexity-remaining") < Math.max(1, number("x-complexity") || 0);
  if (!hasNone) return undefined;
  const resets = ["requests", "complexity"].map((limit) => number(`x-ratelimit-${limit}-reset`) - now);
  return Math.min(MOST_MS, ...resets.filter((ms) => ms > 0));
}
