import type { Root } from "mdast";
import { collectDefinitions } from "./parse-markdown.ts";
import type { LinkTargets } from "./parse-markdown.ts";

/** Remembers the link definitions of a document so far, and the labels that had no definition when they were read. */
export class Definitions {
  readonly #targets = new Map<string, string>();
  readonly #unresolved = new Set<string>();

  get targets(): LinkTargets {
    return this.#targets;
  }

  /**
   * True if the definition must be shown as text, because an earlier text refers to it and was sent without the link.
   */
  isMissed(identifier: string): boolean {
    return this.#unresolved.has(identifier) && !this.#targets.has(identifier);
  }

  learn(source: string, root: Root): void {
    if (!source.includes("[")) return;
    for (const match of source.matchAll(/\[([^[\]\n]{1,200})\](?!:)/g)) {
      const identifier = (match[1] ?? "").trim().replace(/\s+/g, " ").toLowerCase();
      if (!this.#targets.has(identifier)) this.#unresolved.add(identifier);
    }
    collectDefinitions(root, (identifier, url) => {
      if (!this.#targets.has(identifier)) this.#targets.set(identifier, url);
    });
  }
}
