import type { Random } from "../../support/random.ts";
import type { CodeItem } from "./code-items.ts";
import type { Place, PlanItem, PlatformKind } from "./plan.ts";

/** The share of plans in which the model writes code. */
const WITH_CODE = 0.12;
/** The share of those whose code runs in the product's own sandbox. */
const WITH_QUICKJS = 0.15;

type Press = Extract<CodeItem, { kind: "press-code" }>;

const BUTTONS: readonly [Press["button"], ...Press["button"][]] = [
  "Approve",
  "Approve",
  "Approve",
  "Reject",
  "Undo",
  "Undo",
];

/** Messages whose answers run code, people who decide about its calls and undo them, and trouble. */
export function drawCode(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // A platform whose messages cannot be changed shows a new card for each state.
  if (!random.chance(WITH_CODE) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  let presses = 0;
  for (let left = random.chance(0.2) ? 2 : 1; left > 0; left -= 1) {
    const token = `m4${left}`;
    const at = random.int(0, 6_000);
    const place = random.int(0, places.length - 1);
    const expiresAfterMs = random.pick([15_000, 60_000, 1_800_000]);
    items.push({ kind: "message", at, place, token });
    items.push({
      kind: "code",
      token,
      steps: Array.from({ length: random.int(1, 4) }, () => ({
        asks: random.chance(0.45),
        undoes: random.chance(0.85) ? "yes" : "no",
      })),
      order: random.chance(0.7) ? "in-order" : "together",
      catches: random.chance(0.4),
      sandbox: random.chance(WITH_QUICKJS) ? "quickjs" : "plain",
      approvers: random.pick(["ada", "anyone"]),
      repeats: random.pick(["verified", "keyed", "keyed", "never"]),
      workMs: random.pick([0, 200, 200, 7_000]),
      expiresAfterMs,
      undoForMs: random.pick([20_000, 600_000]),
    });
    for (let count = random.int(2, 9), when = at + 1_000; count > 0; count -= 1) {
      const isLate = random.chance(0.06);
      when += random.int(300, 6_000) + (isLate ? expiresAfterMs : 0);
      const press: Press = {
        kind: "press-code",
        at: when,
        code: token,
        token: `u${(presses += 1)}`,
        person: random.chance(0.75) ? "7" : "8",
        button: random.pick(BUTTONS),
      };
      items.push(press);
      // Twice at once, or a moment later.
      if (random.chance(0.25))
        items.push({ ...press, at: when + random.int(0, 400), token: `u${(presses += 1)}` });
      if (random.chance(0.25)) {
        const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
        const died = when + random.int(10, 2_500);
        items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 500) });
      }
    }
    if (random.chance(0.2))
      items.push({ kind: "roll-back", at: at + random.int(8_000, 60_000), code: token });
    if (random.chance(0.3)) {
      const name = random.pick<"stop" | "new">(["stop", "stop", "stop", "new"]);
      const when = at + random.pick([random.int(1_500, 8_000), random.int(500, 20_000)]);
      items.push({ kind: "command", at: when, place, token: `k4${left}`, name });
    }
    const words = random.fork(`undo-words/${token}`);
    for (let count = words.chance(0.3) ? words.int(1, 2) : 0, when = at + 3_000; count > 0; count -= 1) {
      when += words.int(1_000, 15_000);
      const person = words.chance(0.5) ? "7" : "8";
      items.push({ kind: "undo-words", at: when, place, token: `m4${left}${count}`, person });
    }
    // Somebody says something else meanwhile.
    if (random.chance(0.3))
      items.push({ kind: "message", at: at + random.int(2_000, 15_000), place, token: `m4${left + 2}` });
  }
  for (let left = random.int(0, 2); left > 0; left -= 1) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    const boundary = random.int(1, 60);
    items.push({ kind: "crash", within: "code", boundary, victim, downMs: random.int(0, 2_000) });
  }
  return items;
}
