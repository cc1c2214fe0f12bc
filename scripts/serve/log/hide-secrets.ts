/** Names of variables whose values are secrets. */
const SECRET_NAME = /TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL/i;

/** Shortest secret. Shorter values may be part of ordinary words. */
const MIN_LENGTH = 6;

const HIDDEN = "[hidden]";

/** Shapes of secrets from any source: bot tokens, keys of models, bearers, passwords in addresses. */
const SHAPES: readonly (readonly [shape: RegExp, replacement: string])[] = [
  [/(?<!\d)\d{6,}:[A-Za-z0-9_-]{20,}/g, HIDDEN],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, HIDDEN],
  [/\bBearer\s+[^\s"',;]+/gi, `Bearer ${HIDDEN}`],
  [/(\/\/)[^\s/@"']+@/g, `$1${HIDDEN}@`],
];

export interface SecretHider {
  /** Removes the values of secret variables from a text. JSON stays valid JSON. */
  readonly values: (text: string) => string;
  /** Removes the values of secret variables, and any text that looks like a secret. */
  readonly all: (text: string) => string;
}

export function createSecretHider(environment: Readonly<Record<string, string | undefined>>): SecretHider {
  const secrets = new Set(
    Object.entries(environment).flatMap(([name, value = ""]) =>
      SECRET_NAME.test(name) && value.length >= MIN_LENGTH
        ? [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
        : [],
    ),
  );
  // A secret may be part of another one.
  const longestFirst = [...secrets].toSorted((left, right) => right.length - left.length);
  const values = (text: string): string =>
    longestFirst.reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), text);
  const all = (text: string): string =>
    SHAPES.reduce((clean, [shape, replacement]) => clean.replace(shape, replacement), values(text));
  return { values, all };
}
