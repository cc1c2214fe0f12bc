import type { CallFault, Place, PlanItem } from "./plan.ts";
import type { Random } from "../../support/random.ts";
import { hasGateElsewhere } from "./route-places.ts";

/**
 * Trouble for plans in which conversations ask a gate in another object: the gate dies at one of its own writes, or
 * while a post is in doubt and another thread wants to post.
 */
export function gateTrouble(
  random: Random,
  places: readonly Place[],
  objects: readonly string[],
): PlanItem[] {
  if (!places.some((place, index) => hasGateElsewhere(place, objects[index] ?? ""))) return [];
  const items: PlanItem[] = [];
  for (let left = random.chance(0.6) ? random.int(1, 2) : 0; left > 0; left -= 1) {
    const boundary = random.int(1, 24);
    items.push({ kind: "crash", boundary, within: "gate", victim: "gate", downMs: 0 });
  }
  if (random.chance(0.35)) items.push(...rush(random, places));
  const isSpread = places.some(
    (place, index) =>
      objects.indexOf(objects[index] ?? "") < index && place.chatId !== places[index - 1]?.chatId,
  );
  if (isSpread && random.chance(0.35)) items.push(...penaltyOfOne(random, places));
  return items;
}

/** One chat of a conversation is in a penalty while people write in the others. */
function penaltyOfOne(random: Random, places: readonly Place[]): PlanItem[] {
  const start = random.int(0, 3_000);
  const messages = places.map((_place, place): PlanItem => {
    return { kind: "message", at: start + random.int(0, 9_000), place, token: `m7${place}` };
  });
  return [...messages, { kind: "fault", call: random.int(1, 6), fault: { kind: "flood", retryAfterS: 40 } }];
}

/** Messages in all places at about the same time, an answer that is lost, and a gate that dies meanwhile. */
function rush(random: Random, places: readonly Place[]): PlanItem[] {
  const start = random.int(0, 3_000);
  const messages = places.map((_place, place): PlanItem => {
    return { kind: "message", at: start + random.int(0, 700), place, token: `m6${place}` };
  });
  const fault = random.pick<CallFault>([
    { kind: "cut-before" },
    { kind: "cut-after" },
    { kind: "late", doneAfterMs: random.int(500, 5_500) },
    { kind: "hang", done: true },
    { kind: "slow", answeredAfterMs: random.int(500, 5_500) },
  ]);
  const deaths = Array.from({ length: random.int(1, 2) }, (): PlanItem => {
    const at = start + random.int(200, 6_000);
    return { kind: "crash-at", at, victim: "gate", place: 0, downMs: 0 };
  });
  return [...messages, { kind: "fault", call: random.int(1, 8), fault }, ...deaths];
}
