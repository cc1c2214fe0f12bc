/**
 * Whether a path fits a pattern: `*` and `?` stand for characters of one name, `**` for any folders. A pattern without a
 * slash is about names. Takes time that grows with the product of both lengths, at most.
 */
export function fitsGlob(path: string, pattern: string): boolean {
  const parts = pattern.split("/").filter((part) => part !== "");
  if (!pattern.includes("/")) parts.unshift("**");
  return fitsParts(
    path.split("/").filter((name) => name !== ""),
    parts,
  );
}

function fitsParts(names: readonly string[], parts: readonly string[]): boolean {
  // Whether the rest of the names fits the rest of the parts, from the end on.
  let below: boolean[] = names.map(() => false).concat(true);
  for (const part of parts.toReversed()) {
    const fits: boolean[] = below.map(() => false);
    for (let at = names.length; at >= 0; at -= 1) {
      const name = names[at];
      if (part === "**") fits[at] = below[at] === true || (at < names.length && fits[at + 1] === true);
      else fits[at] = name !== undefined && below[at + 1] === true && fitsName(name, part);
    }
    below = fits;
  }
  return below[0] === true;
}

function fitsName(name: string, part: string): boolean {
  let [at, of, star, from] = [0, 0, -1, 0];
  while (at < name.length) {
    if (part[of] === "*") {
      star = of;
      from = at;
      of += 1;
    } else if (of < part.length && (part[of] === "?" || part[of] === name[at])) {
      of += 1;
      at += 1;
    } else if (star >= 0) {
      from += 1;
      of = star + 1;
      at = from;
    } else return false;
  }
  while (part[of] === "*") of += 1;
  return of === part.length;
}
