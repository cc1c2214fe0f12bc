import path from "node:path";

/** Shortens a path for people: relative inside the current folder, absolute outside. */
export function shortPath(absolute: string): string {
  const relative = path.relative(process.cwd(), absolute);
  return relative.startsWith("..") ? absolute : relative || ".";
}
