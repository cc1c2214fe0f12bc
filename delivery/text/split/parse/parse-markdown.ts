import type { Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { ConstructRecord, Extension } from "micromark-util-types";
import { cjkEmphasis, isCjk } from "./cjk-emphasis.ts";
import { mathSyntax } from "./math-syntax.ts";
import { parseSimple } from "./parse-simple.ts";

/** Addresses by the normalized identifier of their definition. The first definition of an identifier counts. */
export type LinkTargets = ReadonlyMap<string, string>;

const RIGHT_SQUARE_BRACKET = 93;
const syntax = gfm({ singleTilde: false });
/** Constructs that the parser would try at every word or line, each with what every text with them matches. */
const DEAR = [
  { names: ["emailAutolink", "protocolAutolink", "wwwAutolink"], found: /@|www|http/i },
  { names: ["table"], found: /\||:-|-:/ },
];
/** `syntax` without constructs, by their names. */
const smaller = new Map<string, Extension>();
const tree = gfmFromMarkdown();
/** `tree` for texts without bare addresses: it does not search each node for one. */
const treeWithoutAddresses = tree.map(({ transforms: _transforms, ...handlers }) => handlers);
/** Every text with a bare address matches it. A character may be written as a reference. */
const MAY_HAVE_ADDRESS = /[@&]|www|http/i;

/**
 * Parses one segment. Link references resolve only to `targets`, the definitions of earlier segments: a later
 * definition must not change text that has already been sent.
 */
export function parseMarkdown(source: string, targets: LinkTargets): Root {
  return parseSimple(source) ?? fullParse(source, targets);
}

/** Parses one segment with the full parser. Link references resolve only to `targets`. */
export function fullParse(source: string, targets: LinkTargets): Root {
  return fromMarkdown(source, {
    extensions: [
      syntaxOf(source),
      mathSyntax,
      ...(isCjk(source) ? [cjkEmphasis] : []),
      resolveAgainst(targets),
    ],
    mdastExtensions: [MAY_HAVE_ADDRESS.test(source) ? tree : treeWithoutAddresses],
  });
}

/** Returns the syntax without the constructs that this text cannot have, which makes parsing up to a third faster. */
function syntaxOf(source: string): Extension {
  const names = DEAR.flatMap((dear) => (dear.found.test(source) ? [] : dear.names));
  const key = names.join();
  const known = smaller.get(key);
  if (known !== undefined) return known;
  const made = { ...syntax, text: without(names, syntax.text), flow: without(names, syntax.flow) };
  smaller.set(key, made);
  return made;
}

function without(names: readonly string[], record: ConstructRecord = {}): ConstructRecord {
  const lists = Object.entries(record).map(
    ([code, constructs = []]) =>
      [code, [constructs].flat().filter(({ name = "" }) => !names.includes(name))] as const,
  );
  return Object.fromEntries(lists.filter(([, list]) => list.length > 0));
}

/** Calls `found` with each definition in a tree, in order, including those inside quotes and lists. */
export function collectDefinitions(node: Nodes, found: (identifier: string, url: string) => void): void {
  if (node.type === "definition") found(node.identifier, node.url);
  if ("children" in node) for (const child of node.children) collectDefinitions(child, found);
}

/**
 * Replaces the parser's list of defined identifiers, which it asks at every closing bracket. The answers come from
 * `targets`, and new definitions are not added.
 */
class KnownIdentifiers extends Array<string> {
  #targets: LinkTargets = new Map();

  static answering(targets: LinkTargets): KnownIdentifiers {
    const known = new KnownIdentifiers();
    known.#targets = targets;
    return known;
  }

  override includes(identifier: string): boolean {
    return this.#targets.has(identifier.toLowerCase());
  }

  override push(): number {
    return 0;
  }
}

/**
 * Makes the parser resolve links by `targets`. The construct never matches: it only replaces the parser's list before
 * each closing bracket.
 */
function resolveAgainst(targets: LinkTargets): Extension {
  const known = KnownIdentifiers.answering(targets);
  return {
    text: {
      [RIGHT_SQUARE_BRACKET]: {
        name: "knownIdentifiers",
        tokenize(_effects, _ok, nok) {
          this.parser.defined = known;
          return nok;
        },
      },
    },
  };
}
