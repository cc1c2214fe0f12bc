/** Codes of Node and of HTTP clients for a connection that was never made, so nothing can have been sent. */
const CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether the code of an error says that nothing was sent. */
export function isNeverConnected(code: unknown): boolean {
  return CODES.has(code);
}
