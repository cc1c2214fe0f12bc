import type { Root } from "mdast";
import type { Meter } from "../pack/meter.ts";
import { fullParse } from "./parse-markdown.ts";
import type { LinkTargets } from "./parse-markdown.ts";

/** The source as it was shown, and the same without its additions. */
const KEPT = 2;

/**
 * The last trees of one document. An open block is read for each request of its parts, and once more when it is closed,
 * often with the same source. Nobody may change a tree.
 */
export class RecentTrees {
  readonly #meter: Meter;
  #trees: readonly { readonly source: string; readonly known: number; readonly root: Root }[] = [];

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /**
   * Returns the tree of the full parser.
   *
   * @param targets those of the document: definitions are only added
   */
  of(source: string, targets: LinkTargets): Root {
    const known = targets.size;
    const recent = this.#trees.find((tree) => tree.known === known && tree.source === source);
    if (recent !== undefined) {
      this.#meter("reused", source.length);
      return recent.root;
    }
    const root = fullParse(source, targets);
    this.#trees = [{ source, known, root }, ...this.#trees].slice(0, KEPT);
    return root;
  }
}
