import type { CallFault, PlanItem } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** Crashes and faults of calls that happen while content is posted. */
export function drawTrouble(random: Random): PlanItem[] {
  const items: PlanItem[] = [];
  for (let left = random.int(0, 3); left > 0; left -= 1) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    items.push({ kind: "crash", boundary: random.int(1, 250), victim, downMs: random.int(0, 2_000) });
  }
  for (let left = random.int(0, 2); left > 0; left -= 1) {
    const fault = random.pick<CallFault>([
      { kind: "cut-after" },
      { kind: "cut-before" },
      { kind: "late", doneAfterMs: random.int(100, 5_500) },
      { kind: "hang", done: random.chance(0.5) },
      { kind: "slow-done", doneAfterMs: random.int(500, 9_000) },
      { kind: "flood", retryAfterS: random.pick([3, 20]) },
    ]);
    items.push({ kind: "fault", call: random.int(1, 25), fault });
  }
  return items;
}
