/** Answers of GitHub's REST API, and whose calls it takes. */
import type { Refusal } from "../platform-emulator.ts";

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Decides about calls by their token. */
export interface Access {
  /** Answers or refuses a call. Undefined: the token has the right to make it. */
  answer(call: AskedCall): Answer | undefined;
}

export interface AskedCall {
  readonly method: string;
  readonly pathname: string;
  readonly token: string | undefined;
  /** Whether the token came as `Bearer`, and not as `token`. */
  readonly isBearer: boolean;
}

export const DOCS = "https://docs.github.com/rest";

export const notFound = refused(404, "Not Found");

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

export function refused(status: number, message: string, page = DOCS): Answer {
  return { status, body: { message, documentation_url: page, status: String(status) } };
}

export function wordRefusal(refusal: Refusal): Answer {
  switch (refusal.kind) {
    case "flood": {
      const message =
        "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
        "Please retry your request again later.";
      const page = `${DOCS}/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits`;
      const wait = String(Math.ceil(refusal.retryAfterMs / 1000));
      return { ...refused(403, message, page), headers: { "retry-after": wait } };
    }
    case "error":
      return { status: refusal.status, body: { message: "Server Error" } };
    case "token":
      return refused(401, "Bad credentials");
  }
}
