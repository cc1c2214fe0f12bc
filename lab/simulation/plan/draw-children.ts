import type { Random } from "../../support/random.ts";
import type { ChildItem } from "./child-items.ts";
import type { Place, PlanItem, PlatformKind } from "./plan.ts";

/** The share of plans in which an agent gives tasks to another one. */
const WITH_CHILDREN = 0.1;

type Press = Extract<ChildItem, { kind: "press-child" }>;

/** Messages whose answers give tasks to other agents, people who are asked about their calls, and trouble. */
export function drawChildren(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // A platform whose messages cannot be changed shows a new card for each state.
  if (!random.chance(WITH_CHILDREN) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  let presses = 0;
  for (let left = random.chance(0.3) ? 2 : 1; left > 0; left -= 1) {
    const token = `m3${left}`;
    const at = random.int(0, 6_000);
    const place = random.int(0, places.length - 1);
    const isDetached = random.chance(0.3);
    items.push({ kind: "message", at, place, token });
    items.push({
      kind: "child",
      token,
      asks: Array.from({ length: random.int(1, 3) }, () => !isDetached && random.chance(0.4)),
      isDetached,
      repeats: random.pick(["keyed", "keyed", "never"]),
      workMs: random.pick([0, 200, 1_500, 6_000]),
    });
    for (let count = random.int(0, 6), when = at + 1_500; count > 0; count -= 1) {
      when += random.int(300, 6_000);
      const press: Press = {
        kind: "press-child",
        at: when,
        child: token,
        token: `h${(presses += 1)}`,
        person: random.chance(0.75) ? "7" : "8",
        button: random.chance(0.8) ? "Approve" : "Reject",
      };
      items.push(press);
      // Twice at once, or a moment later.
      if (random.chance(0.25))
        items.push({ ...press, at: when + random.int(0, 400), token: `h${(presses += 1)}` });
    }
    for (let crashes = random.int(0, 3); crashes > 0; crashes -= 1) {
      const victim = random.pick<"thread" | "machine" | "child">(["thread", "machine", "child", "child"]);
      const died = at + random.int(800, 20_000);
      items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 800) });
    }
    if (random.chance(0.3)) {
      const name = random.pick<"stop" | "new">(["stop", "stop", "stop", "new"]);
      const when = at + random.pick([random.int(1_500, 6_000), random.int(1_500, 20_000)]);
      items.push({ kind: "command", at: when, place, token: `k3${left}`, name });
    }
    // Somebody says something else meanwhile.
    if (random.chance(0.3))
      items.push({ kind: "message", at: at + random.int(2_000, 15_000), place, token: `m3${left + 2}` });
  }
  for (let left = random.int(0, 2); left > 0; left -= 1) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    const boundary = random.int(1, 80);
    items.push({ kind: "crash", within: "child", boundary, victim, downMs: random.int(0, 2_000) });
  }
  return items;
}
