import { drawTrouble } from "./draw-trouble.ts";
import type { Place, PlanItem, PlatformKind } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** The share of plans with files. */
const WITH_ALBUMS = 0.15;

/** Files, albums and places that commands and the bot's own code send, and trouble for them. */
export function drawAlbums(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // A platform whose messages cannot be changed takes no files here.
  if (!random.chance(WITH_ALBUMS) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  for (let album = random.int(1, 4); album > 0; album -= 1) {
    items.push({
      kind: "album",
      at: random.int(0, 12_000),
      place: random.int(0, places.length - 1),
      by: random.chance(0.4) ? "command" : "bot",
      from: random.int(0, places.length - 1),
      token: `f${album}`,
      files: random.pick([0, 1, 1, 2, 3]),
      // None, some, and more than a caption may have.
      words: random.pick([0, 4, 24]),
      isShared: random.chance(0.5),
    });
  }
  if (random.chance(0.3)) items.push({ kind: "forget-files", at: random.int(2_000, 14_000) });
  return [...items, ...drawTrouble(random)];
}
