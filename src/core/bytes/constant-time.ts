/**
 * True if `sent` equals the secret. The time depends only on the length of `sent`, never on the secret or on the first
 * difference.
 */
export function equalSecrets(sent: string, secret: string): boolean {
  const encoder = new TextEncoder();
  const [a, b] = [encoder.encode(sent), encoder.encode(secret)];
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1)
    difference |= (a[index] ?? 0) ^ (b[index % b.length] ?? 0);
  return difference === 0;
}
