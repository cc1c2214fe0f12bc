/** Names of variables whose values are secrets. */
const SECRET_NAME = /TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL/i;

/** Shortest secret. Shorter values may be part of ordinary words. */
const MIN_SECRET_LENGTH = 6;

const HIDDEN = "[hidden]";

/** Shapes of secrets from any source: bot tokens, keys of models, bearers, passwords in addresses. */
const SECRET_SHAPES: readonly (readonly [shape: RegExp, replacement: string])[] = [
  [/(?<!\d)\d{6,}:[A-Za-z0-9_-]{20,}/g, HIDDEN],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, HIDDEN],
  [/\bBearer\s+[^\s"',;]+/gi, `Bearer ${HIDDEN}`],
  [/(\/\/)[^\s/@"']+@/g, `$1${HIDDEN}@`],
];

/**
 * Creates the function that removes secrets from a text. Secrets are the values of variables with a name like `TOKEN`,
 * also in their form for addresses and JSON, and any text that looks like a secret.
 */
export function createRedact(environment: object): (text: string) => string {
  const secrets = new Set(
    Object.entries(environment).flatMap(([name, value]) =>
      typeof value === "string" && SECRET_NAME.test(name) && value.length >= MIN_SECRET_LENGTH
        ? [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
        : [],
    ),
  );
  // A secret may be part of another one.
  const longestFirst = [...secrets].toSorted((left, right) => right.length - left.length);
  return (text) => {
    let clean = text;
    for (const secret of longestFirst) clean = clean.replaceAll(secret, HIDDEN);
    for (const [shape, replacement] of SECRET_SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  };
}
