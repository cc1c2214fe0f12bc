import type { LocationContent } from "../../src/core/content.ts";

/** A place in words, for platforms whose messages have no maps. Markdown. */
export function placeText({ address, latitude, longitude, title }: Omit<LocationContent, "kind">): string {
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`;
  const words = [title, address].filter((word) => word !== undefined).map(plain);
  return [...words, map].join("  \n");
}

/** Signs that Markdown would read. */
function plain(words: string): string {
  return words.replaceAll(/[\\`*_[\]<>#]/g, "\\$&").replaceAll(/\s+/g, " ");
}
