import type { LocationContent } from "../../src/core/content.ts";

/** Describes a place in Markdown, for platforms whose messages have no maps. */
export function placeText({ address, latitude, longitude, title }: Omit<LocationContent, "kind">): string {
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`;
  const words = [title, address].filter((word) => word !== undefined).map(plain);
  return [...words, map].join("  \n");
}

/** Escapes plain text for Markdown. */
function plain(words: string): string {
  return words.replaceAll(/[\\`*_[\]<>#]/g, "\\$&").replaceAll(/\s+/g, " ");
}
