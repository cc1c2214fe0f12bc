import { drawPolicy } from "./draw-policy.ts";
import { drawTrouble } from "./draw-trouble.ts";
import type { Place, Plan, PlanItem, PlatformKind } from "./plan.ts";
import type { AskedKind, AskedPeople, WrittenKind } from "./question-items.ts";
import type { Random } from "../../support/random.ts";
import { ROOT } from "./route-places.ts";

const ADA: Place = { threadId: "sim:17", chatId: "17", isDirectMessage: true, box: "own" };
const BOB: Place = { threadId: "sim:18", chatId: "18", isDirectMessage: true, box: "own", userId: "8" };
const GROUP: Place = { threadId: "sim:-30", chatId: "-30", isDirectMessage: false, box: "own" };
const PLACES: readonly Place[] = [GROUP, ADA, BOB];

/**
 * A group, and the private chats of two of its people, in which actions and the bot's own code ask them: also for secrets,
 * and from another chat. They answer, talk about something else, and processes die.
 */
export function createAskingPlan(seed: number, random: Random): Plan {
  const platform = random.pick<PlatformKind>(["telegram", "telegram", "telegram", "streams", "fixed"]);
  const isBySelf = random.chance(0.15);
  const mode = random.pick<"edit" | "buffered">(["edit", "edit", "edit", "buffered"]);
  const items: PlanItem[] = [];
  for (let left = random.pick([1, 2, 2, 3]); left > 0; left -= 1) items.push(...askingItems(random, left));
  for (let left = random.int(0, 3); left > 0; left -= 1) {
    const place = random.int(0, PLACES.length - 1);
    items.push({ kind: "message", at: random.int(0, 40_000), place, token: `m3${left}` });
  }
  for (let left = random.chance(0.7) ? random.int(1, 3) : 0; left > 0; left -= 1) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    const boundary = random.int(1, 40);
    items.push({ kind: "crash", within: "question", boundary, victim, downMs: random.int(0, 1_000) });
  }
  if (random.chance(0.5)) items.push(...drawTrouble(random));
  if (random.chance(0.4)) {
    const how = random.pick<"answer-lost" | "twice" | "renumbered">(["answer-lost", "twice", "renumbered"]);
    items.push({ kind: "again", update: random.int(2, 20), how });
  }
  return {
    seed,
    places: PLACES,
    routing: isBySelf ? "self" : "thread",
    objects: PLACES.map(({ threadId }) => (isBySelf ? ROOT : threadId)),
    items,
    interruptedStep: "restart",
    platform,
    search: "none",
    whenBusy: random.pick(["queue", "queue", "interrupt"]),
    modes: PLACES.map(() => mode),
    policy: drawPolicy(random.fork("policy"), platform),
  };
}

const PEOPLE: readonly [AskedPeople | undefined, ...(AskedPeople | undefined)[]] = [
  undefined,
  undefined,
  "ada",
  "bob",
  "bob",
  "leads",
  "leads",
];

/** An action that asks, or a question of the bot's own code, and people who answer. */
function askingItems(random: Random, number: number): PlanItem[] {
  const at = random.int(0, 9_000);
  const place = random.int(0, PLACES.length - 1);
  const expiresAfterMs = random.pick([25_000, 90_000, 1_800_000]);
  const remind = random.chance(0.5) ? { remindAfterMs: random.int(2_000, 30_000) } : {};
  const token = `m2${number}`;
  const fillIn: PlanItem = {
    kind: "fill-in",
    at,
    questions: token,
    first: 2_070 + 30 * number,
    acts: random.int(8, 20),
  };
  if (random.chance(0.35)) {
    const written = random.pick<WrittenKind>(["text", "even", "even", "details", "sent", "secret", "login"]);
    // Secrets are asked in private.
    const to = random.int(written === "secret" || written === "login" ? 1 : 0, PLACES.length - 1);
    const asked = { kind: "bot-question", at, place: to, from: place, token, asks: written } as const;
    return [{ ...asked, expiresAfterMs, ...remind }, fillIn];
  }
  const of = random.pick(PEOPLE);
  const asks = Array.from({ length: random.int(1, 2) }, () =>
    random.pick<AskedKind>([
      "choose",
      "text",
      "even",
      "details",
      "sent",
      "secret",
      "secret",
      "login",
      "login",
    ]),
  );
  const items: PlanItem[] = [
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
    { kind: "questions", token, asks, expiresAfterMs, ...(of !== undefined && { of }), ...remind },
    fillIn,
  ];
  const later = (): number => at + random.int(2_000, 40_000);
  if (random.chance(0.12)) items.push({ kind: "edit", at: later(), token });
  if (random.chance(0.12)) items.push({ kind: "take-back", at: later(), token });
  if (random.chance(0.2)) {
    const name = random.pick<"stop" | "new">(["stop", "new"]);
    const where = random.int(0, PLACES.length - 1);
    items.push({ kind: "command", at: later(), place: where, token: `k2${number}`, name });
  }
  return items;
}
