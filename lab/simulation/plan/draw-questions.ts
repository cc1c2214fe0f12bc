import type { Place, PlanItem, PlatformKind } from "./plan.ts";
import type { AskedKind } from "./question-items.ts";
import type { Random } from "../../support/random.ts";

/** The share of plans in which actions ask people while they run. */
const WITH_QUESTIONS = 0.15;

/** Messages whose answers call actions that ask, people who answer, others who try to, and trouble. */
export function drawQuestions(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // A platform whose messages cannot be changed shows a new card for each state.
  if (!random.chance(WITH_QUESTIONS) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  let presses = 0;
  for (let left = random.int(1, 2); left > 0; left -= 1) {
    const token = `m9${left + 4}`;
    const at = random.int(0, 9_000);
    const place = random.int(0, places.length - 1);
    const expiresAfterMs = random.pick([12_000, 40_000, 1_800_000]);
    items.push({ kind: "message", at, place, token });
    items.push({
      kind: "proposal",
      token,
      approvers: "nobody",
      repeats: random.pick(["verified", "keyed"]),
      workMs: random.pick([0, 200]),
      expiresAfterMs,
      files: 0,
    });
    const asks = Array.from({ length: random.int(1, 3) }, () =>
      random.pick<AskedKind>(["confirm", "choose", "form"]),
    );
    items.push({ kind: "questions", token, asks, expiresAfterMs });
    for (let answers = random.int(2, 10), when = at; answers > 0; answers -= 1) {
      const isLate = random.chance(0.05);
      when += random.int(300, 5_000) + (isLate ? expiresAfterMs : 0);
      const answer = {
        kind: "answer",
        at: when,
        questions: token,
        token: `a${(presses += 1)}`,
        person: random.chance(0.75) ? "7" : "8",
        pick: random.chance(0.08) ? -1 : random.int(0, 5),
      } as const;
      items.push(answer);
      // Twice at once, or a moment later.
      if (random.chance(0.2))
        items.push({ ...answer, at: when + random.int(0, 400), token: `a${(presses += 1)}` });
      if (random.chance(0.2)) {
        const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
        const died = when + random.int(10, 1_500);
        items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 500) });
      }
    }
    if (random.chance(0.2)) {
      const name = random.pick<"stop" | "new">(["stop", "new"]);
      items.push({
        kind: "command",
        at: at + random.int(3_000, 20_000),
        place,
        token: `k9${left + 4}`,
        name,
      });
    }
  }
  return items;
}
