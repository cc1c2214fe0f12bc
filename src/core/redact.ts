/** Names of variables whose values are secrets. */
const SECRET_NAME = /TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIAL/i;

/** Shorter values are left alone: they are part of ordinary words. */
const MIN_SECRET_LENGTH = 6;

const HIDDEN = "[hidden]";

/** What a secret looks like, wherever it comes from: bot tokens, keys of models, bearers, passwords in addresses. */
const SECRET_SHAPES: readonly (readonly [shape: RegExp, replacement: string])[] = [
  [/(?<!\d)\d{6,}:[A-Za-z0-9_-]{20,}/g, HIDDEN],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, HIDDEN],
  [/\bBearer\s+[^\s"',;]+/gi, `Bearer ${HIDDEN}`],
  [/(\/\/)[^\s/@"']+@/g, `$1${HIDDEN}@`],
];

/**
 * Makes the function that takes secrets out of a text: the values of the environment's variables that are named like
 * secrets, also as they stand in an address or in JSON, and whatever looks like one.
 */
export function createRedact(environment: object): (text: string) => string {
  const secrets = new Set(
    Object.entries(environment).flatMap(([name, value]) =>
      typeof value === "string" && SECRET_NAME.test(name) && value.length >= MIN_SECRET_LENGTH
        ? [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
        : [],
    ),
  );
  // A secret may be a part of another one.
  const longestFirst = [...secrets].toSorted((left, right) => right.length - left.length);
  return (text) => {
    let clean = text;
    for (const secret of longestFirst) clean = clean.replaceAll(secret, HIDDEN);
    for (const [shape, replacement] of SECRET_SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  };
}
