import type { Place, PlanItem } from "./plan.ts";
import type { AskedKind } from "./question-items.ts";
import type { Random } from "../../support/random.ts";

/** The share of plans in which people answer the questions of actions in writing. */
const WITH_TYPING = 0.035;

/**
 * Messages whose answers call actions that ask for what people write. Two of them are often asked in one chat, and
 * processes die around what is stored of a question.
 */
export function drawTyping(random: Random, places: readonly Place[]): PlanItem[] {
  if (!random.chance(WITH_TYPING)) return [];
  const items: PlanItem[] = [];
  const first = random.int(0, places.length - 1);
  for (let left = random.pick([1, 2, 2]); left > 0; left -= 1) {
    const token = `m2${left}`;
    const at = random.int(0, 6_000);
    const place = random.chance(0.7) ? first : random.int(0, places.length - 1);
    const expiresAfterMs = random.pick([20_000, 90_000, 1_800_000]);
    const remindAfterMs = random.chance(0.4) ? random.int(2_000, 30_000) : undefined;
    const others = random.fork(`kinds/${left}`);
    const asks = Array.from({ length: random.int(1, 2) }, () => {
      const kind = random.pick<AskedKind>(["text", "details", "details", "choose"]);
      return others.chance(0.4) ? others.pick<AskedKind>(["even", "sent", "sent"]) : kind;
    });
    items.push(
      { kind: "message", at, place, token },
      {
        kind: "proposal",
        token,
        approvers: "nobody",
        repeats: random.pick(["verified", "keyed"]),
        workMs: random.pick([0, 200]),
        expiresAfterMs,
        files: 0,
      },
      {
        kind: "questions",
        token,
        asks,
        expiresAfterMs,
        ...(remindAfterMs !== undefined && { remindAfterMs }),
      },
      { kind: "fill-in", at, questions: token, first: 2_050 + 50 * left, acts: random.int(7, 15) },
    );
    const later = (): number => at + random.int(2_000, 40_000);
    if (random.chance(0.12)) items.push({ kind: "edit", at: later(), token });
    if (random.chance(0.12)) items.push({ kind: "take-back", at: later(), token });
    if (random.chance(0.2)) {
      const name = random.pick<"stop" | "new">(["stop", "new"]);
      items.push({ kind: "command", at: later(), place, token: `k2${left}`, name });
    }
  }
  for (let left = random.chance(0.7) ? random.int(1, 3) : 0; left > 0; left -= 1) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    const boundary = random.int(1, 40);
    items.push({ kind: "crash", within: "question", boundary, victim, downMs: random.int(0, 1_000) });
  }
  if (random.chance(0.4)) {
    const how = random.pick<"answer-lost" | "twice" | "renumbered">(["answer-lost", "twice", "renumbered"]);
    items.push({ kind: "again", update: random.int(2, 20), how });
  }
  return items;
}
