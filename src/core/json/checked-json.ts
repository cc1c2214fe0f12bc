import type { z } from "zod";

/** Number of texts that are remembered, and their longest length in characters. */
const MOST_TEXTS = 256;
const LONGEST_TEXT = 8_192;

/**
 * Reads stored JSON that is read many times, such as the events of a turn. Each text is checked when it is read first;
 * later it is only parsed, which takes a small part of the time. Every call returns an object of its own.
 *
 * Only for schemas that change nothing: no defaults, no transformations, and loose objects, which keep unknown fields.
 */
export class CheckedJson<T> {
  readonly #schema: z.ZodType<T>;
  /** Texts that have passed the check, the one that was used last at the end. */
  readonly #passed = new Set<string>();

  constructor(schema: z.ZodType<T>) {
    this.#schema = schema;
  }

  /** @throws {z.ZodError} if the JSON does not fit the schema */
  read(json: string): T {
    const value: unknown = JSON.parse(json);
    if (this.#passed.delete(json)) {
      this.#passed.add(json);
      return value as T;
    }
    const checked = this.#schema.parse(value);
    if (json.length > LONGEST_TEXT) return checked;
    this.#passed.add(json);
    const [oldest] = this.#passed;
    if (this.#passed.size > MOST_TEXTS && oldest !== undefined) this.#passed.delete(oldest);
    return checked;
  }
}
