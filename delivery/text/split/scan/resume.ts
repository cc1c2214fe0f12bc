import type { BlockContent, DefinitionContent, RootContent } from "mdast";
import type { Container } from "./containers.ts";

export type BlockNode = RootContent | BlockContent | DefinitionContent;

export interface Reentry {
  /** What stands in the container that goes on. */
  readonly inside: readonly BlockNode[];
  /** Items behind the one that goes on. */
  readonly siblings: readonly BlockNode[];
}

/** What stands in a container that goes on: in an item or footnote, without the heading that keeps its place. */
export function reenter(node: BlockNode | undefined, container: Container): Reentry | undefined {
  switch (container.kind) {
    case "quote":
      return node?.type === "blockquote" ? { inside: node.children, siblings: [] } : undefined;
    case "item": {
      if (node?.type !== "list") return undefined;
      const [first, ...siblings] = node.children;
      return { inside: first?.children.slice(1) ?? [], siblings };
    }
    case "footnote":
      return node?.type === "footnoteDefinition"
        ? { inside: node.children.slice(1), siblings: [] }
        : undefined;
    default:
      return container satisfies never;
  }
}

/** The blocks in the innermost container that goes on. */
export function resumedNodes(
  nodes: readonly BlockNode[],
  containers: readonly Container[],
): readonly BlockNode[] {
  let inside = nodes;
  for (const container of containers) {
    const entered = reenter(inside[0], container);
    if (entered === undefined) break;
    inside = entered.inside;
  }
  return inside;
}
