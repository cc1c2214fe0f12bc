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
