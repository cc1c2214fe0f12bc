import type { Nodes } from "mdast";

/** What a tree says, without where it says it; neighbouring texts are one. */
export function essence(node: Nodes): unknown {
  const { position: _position, ...rest } = node;
  if (!("children" in rest)) return rest;
  const children: unknown[] = [];
  for (const child of rest.children) {
    const last = children.at(-1) as { type?: string; value?: string } | undefined;
    if (child.type === "text" && last?.type === "text") last.value = `${last.value}${child.value}`;
    else children.push(essence(child));
  }
  return { ...rest, children };
}
