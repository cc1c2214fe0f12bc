/** Shorter values of a header are no secret, and would change other words. */
const SHORTEST_SECRET = 8;
const HIDDEN = "[hidden]";

/**
 * Returns a result without values that were sent with its call: some services repeat the request that they got.
 *
 * @param values headers and the like. Each of their words is hidden, too
 */
export function hideSecrets(output: unknown, values: readonly string[]): unknown {
  const secrets = values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length);
  return hidden(output, secrets);
}

function hidden(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string")
    return secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value);
  if (Array.isArray(value)) return value.map((one) => hidden(one, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [hidden(key, secrets) as string, hidden(one, secrets)]),
  );
}
