import { ConfigurationError } from "../core/base/errors.ts";

/**
 * Parses the address of a model's server. Errors do not repeat the value, because people put keys into URLs.
 *
 * @throws {ConfigurationError} `model-base-url-invalid`
 */
export function parseBaseUrl(name: string, value: string, example: string): URL {
  const wrong = (problem: string) =>
    new ConfigurationError(
      "model-base-url-invalid",
      `${name} ${problem}. It is the address up to the version, e.g. "${example}".`,
    );
  if (!URL.canParse(value)) throw wrong("is not a URL");
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw wrong("does not begin with https:// or http://");
  if (url.username !== "" || url.password !== "")
    throw wrong("holds a user name or password; keys have variables of their own");
  if (url.search !== "" || url.hash !== "") throw wrong("has a part after ? or #");
  if (/\/chat\/completions\/?$/.test(url.pathname))
    throw wrong("ends in /chat/completions, which is added to it");
  return url;
}

/** Returns the value of a variable. An empty value counts as not set. */
export function setting(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === undefined || trimmed === "" ? undefined : trimmed;
}
