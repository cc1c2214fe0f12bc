import { createSign } from "node:crypto";

/**
 * Signs claims with a private key in PEM form (RS256).
 * @throws {Error} if it is not a private key
 */
export function signJwt(claims: Readonly<Record<string, unknown>>, privateKey: string): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  // In a variable, a key often has `\n` in place of its line breaks.
  const key = privateKey.replaceAll("\\n", "\n");
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(key, "base64url")}`;
}
