import { inOneLine } from "../core/text/one-line.ts";
import type { ContextProvider } from "../feature/session.ts";

/** Most texts that the prompt names. */
const MOST_KEYS = 200;
/** Longest description of a text in the prompt. */
const MOST_DESCRIPTION = 200;
/** Most bytes of a text that are read. */
const MOST_BYTES = 128 * 1024;

/** The methods of an `R2Bucket` that the provider needs. */
export interface TextBucket {
  list(options: {
    readonly prefix: string;
    readonly limit: number;
    readonly include: ["customMetadata"];
  }): Promise<{
    readonly objects: readonly {
      readonly key: string;
      readonly customMetadata?: Readonly<Record<string, string>> | undefined;
    }[];
  }>;
  get(
    key: string,
    options: { readonly range: { readonly offset: number; readonly length: number } },
  ): Promise<{ text(): Promise<string> } | null>;
}

/**
 * Texts of a bucket as a block of the prompt: the prompt names them, each with the `description` of its custom metadata,
 * and the model reads one with `load_context`. The model cannot write them: a bucket belongs to all conversations.
 *
 * For skills with scripts and files use `switchboard/skills`.
 *
 * @example
 * session.withContext("skills", { provider: new R2SkillProvider(this.env.SKILLS_BUCKET, { prefix: "skills/" }) })
 */
export class R2SkillProvider implements ContextProvider {
  readonly #bucket: TextBucket;
  readonly #prefix: string;

  /** @param options `prefix`: the beginning of all keys, which the model does not see. @default "" */
  constructor(bucket: TextBucket, options: { readonly prefix?: string } = {}) {
    this.#bucket = bucket;
    this.#prefix = options.prefix ?? "";
  }

  async get(): Promise<string> {
    const { objects } = await this.#bucket.list({
      prefix: this.#prefix,
      limit: MOST_KEYS,
      include: ["customMetadata"],
    });
    return objects
      .map(({ customMetadata, key }) => {
        const { description } = customMetadata ?? {};
        const name = inOneLine(key.slice(this.#prefix.length));
        return description === undefined
          ? name
          : `${name}: ${inOneLine(description).slice(0, MOST_DESCRIPTION)}`;
      })
      .join("\n");
  }

  async load(key: string): Promise<string | null> {
    const found = await this.#bucket.get(`${this.#prefix}${key}`, {
      range: { offset: 0, length: MOST_BYTES },
    });
    return found === null ? null : found.text();
  }
}
