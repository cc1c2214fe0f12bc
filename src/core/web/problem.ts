/**
 * Creates an error answer in JSON: `{ error: { code, message } }`. `message` tells the fix, in fixed words only (I10).
 */
export function problem(
  status: number,
  code: string,
  message: string,
  headers?: Record<string, string>,
): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

export function onlyBy(allow: string): Response {
  return problem(405, "method-not-allowed", `Send a ${allow} request.`, { allow });
}

/** Returns a part of a path. Undefined if it has a "%" that encodes nothing. */
export function decodedPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
