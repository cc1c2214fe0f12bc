import path from "node:path";

/** A path for people: relative where that is shorter to read, absolute outside the current folder. */
export function shortPath(absolute: string): string {
  const relative = path.relative(process.cwd(), absolute);
  return relative.startsWith("..") ? absolute : relative || ".";
}
