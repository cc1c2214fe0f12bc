import type { CallFault, Place, Plan, PlanItem, Victim } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** One text to many private chats, which number their messages together. */
export const CROWD = 40;
/** By then the first chat has an answer, so the ids of the box are known. */
const BEGINS_AFTER_MS = 8_000;
const TOGETHER_MS = 1_300;

/**
 * A broadcast to many chats at a platform that takes its time. The machine is killed in the middle, so that many posts
 * are lost at once, and only their conversations know many more.
 */
export function createCrowdPlan(seed: number, random: Random): Plan {
  const places = Array.from({ length: CROWD }, (_, index) => direct(String(100 + index)));
  const items: PlanItem[] = [
    { kind: "message", at: 0, place: 0, token: "m0" },
    { kind: "storm", at: BEGINS_AFTER_MS, forMs: 60_000, share: 1, fault: slowSend(random) },
  ];
  for (const place of places.keys()) {
    const at = BEGINS_AFTER_MS + random.int(0, TOGETHER_MS);
    items.push({ kind: "tell", at, place, token: `bulletin${place}` });
  }
  for (let left = random.pick([0, 0, 0, 0, 0, 0, 1, 3]); left > 0; left -= 1) {
    const place = random.int(0, CROWD - 1);
    items.push({ kind: "message", at: BEGINS_AFTER_MS + random.int(0, 9_000), place, token: `m${left}` });
  }
  const victim = (): Victim =>
    random.pick(["machine", "machine", "machine", "machine", "machine", "machine", "root"]);
  // Near the end, so that hardly any later post shows how high the ids are.
  let at = BEGINS_AFTER_MS + TOGETHER_MS + random.int(-400, 200);
  for (let left = random.pick([1, 1, 1, 1, 1, 2]); left > 0; left -= 1) {
    items.push({ kind: "crash-at", at, victim: victim(), place: 0, downMs: random.int(0, 3_000) });
    at += random.int(1_000, 12_000);
  }
  return {
    seed,
    places,
    routing: "thread",
    objects: places.map(({ threadId }) => threadId),
    items,
    interruptedStep: "restart",
    platform: "telegram",
    search: "none",
    whenBusy: "queue",
    modes: places.map(() => "edit"),
    policy: {
      onUnknown: "resend-marked",
      replyTo: "never",
      rich: undefined,
      rerunOnEdit: false,
      answersPresses: false,
      footer: undefined,
      silence: false,
      tools: false,
      locksCards: false,
    },
  };
}

function slowSend(random: Random): CallFault {
  return { kind: "slow-done", doneAfterMs: random.pick([150, 250, 250, 400, 400, 1_500]) };
}

function direct(chatId: string): Place {
  return { threadId: `sim:${chatId}`, chatId, isDirectMessage: true, box: "own" };
}
