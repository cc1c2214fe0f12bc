/** Names of variables whose values are secrets. */
const SECRET_NAME = /TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL/i;

/** Shortest secret. Shorter values may be part of ordinary words. */
const MIN_SECRET_LENGTH = 6;

const HIDDEN = "[hidden]";

/** Shapes of secrets from any source: bot tokens, keys of models, tokens of agents, bearers, passwords in addresses. */
const SECRET_SHAPES: readonly (readonly [shape: RegExp, replacement: string])[] = [
  [/(?<!\d)\d{6,}:[A-Za-z0-9_-]{20,}/g, HIDDEN],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, HIDDEN],
  [/\bswb_[A-Za-z0-9_]{8,}/g, HIDDEN],
  [/\bBearer\s+[^\s"',;]+/gi, `Bearer ${HIDDEN}`],
  [/(\/\/)[^\s/@"']+@/g, `$1${HIDDEN}@`],
];

/** Removes secrets from texts. */
export interface SecretHider {
  /** Removes the values of secret variables from a text. JSON stays valid JSON. */
  readonly values: (text: string) => string;
  /** Removes the values of secret variables, and any text that looks like a secret. */
  readonly all: (text: string) => string;
}

/**
 * Creates the hider of secrets. Secrets are the values of variables with a name like `TOKEN`, also in their form for
 * addresses and JSON.
 */
export function createSecretHider(environment: object): SecretHider {
  const secrets = new Set(
    Object.entries(environment).flatMap(([name, value]) =>
      typeof value === "string" && SECRET_NAME.test(name) && value.length >= MIN_SECRET_LENGTH
        ? [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
        : [],
    ),
  );
  // A secret may be part of another one.
  const longestFirst = [...secrets].toSorted((left, right) => right.length - left.length);
  const values = (text: string): string =>
    longestFirst.reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), text);
  const all = (text: string): string =>
    SECRET_SHAPES.reduce((clean, [shape, replacement]) => clean.replace(shape, replacement), values(text));
  return { values, all };
}
