/** How long a grant holds: for the request that asked, for an hour, or until somebody ends it. */
export type GrantLength = "request" | "hour" | "always";

/** The lengths in words. */
export const LENGTH_WORDS = {
  request: "for this request",
  hour: "for an hour",
  always: "always",
} as const satisfies Record<GrantLength, string>;
