import type { BlockContent, DefinitionContent, RootContent } from "mdast";
import type { Container } from "./containers.ts";

export type BlockNode = RootContent | BlockContent | DefinitionContent;

export interface Reentry {
  /** Blocks inside the container that continues. */
  readonly inside: readonly BlockNode[];
  /** List items after the one that continues. */
  readonly siblings: readonly BlockNode[];
}

/**
 * Returns the blocks inside a container that continues. For items and footnotes it leaves out the empty heading that
 * was added to open them again. Returns undefined if the container does not continue.
 */
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

/** Returns the blocks inside the innermost container that continues. */
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
