/**
 * Whether what was sent is the secret, in a time that depends on the length of what was sent, and neither on the secret
 * nor on where they differ.
 */
export function equalSecrets(sent: string, secret: string): boolean {
  const encoder = new TextEncoder();
  const [a, b] = [encoder.encode(sent), encoder.encode(secret)];
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1)
    difference |= (a[index] ?? 0) ^ (b[index % b.length] ?? 0);
  return difference === 0;
}
