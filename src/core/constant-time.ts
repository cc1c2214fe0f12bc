/**
 * Whether two secrets are equal, in a time that depends on neither's content nor on where they differ. Both are hashed
 * first, so that their lengths do not show either.
 */
export async function equalSecrets(left: string, right: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const [a, b] = await Promise.all(
    [left, right].map(
      async (value) => new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(value))),
    ),
  );
  if (a === undefined || b === undefined) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}
