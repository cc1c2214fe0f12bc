import { drawTrouble } from "./draw-trouble.ts";
import type { Place, PlanItem, PlatformKind, Size } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** The share of plans in which the model calls actions. */
const WITH_ACTIONS = 0.2;
/** The share of those in which people allow a sum. */
const WITH_SPENDING = 0.1;

const SIZES: readonly [Size, ...Size[]] = ["small", "medium", "large"];

type Proposal = Extract<PlanItem, { kind: "proposal" }>;
type Decision = Extract<PlanItem, { kind: "decide" }>;

const BUTTONS: readonly [Decision["button"], ...Decision["button"][]] = [
  "Approve",
  "Approve",
  "Approve",
  "Approve",
  "Reject",
  "More",
  "Take back",
  "Ask for changes",
];

/** Messages whose answers call actions, people who decide about them, and trouble for both. */
export function drawApprovals(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // A platform whose messages cannot be changed shows a new card for each state.
  if (!random.chance(WITH_ACTIONS) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  let presses = 0;
  for (let left = random.int(1, 2); left > 0; left -= 1) {
    const token = `m9${left}`;
    const at = random.int(0, 9_000);
    const place = random.int(0, places.length - 1);
    items.push({ kind: "message", at, place, token });
    const drawn = drawProposal(random, token);
    // Of its own, so that it changes nothing else of a seed.
    const isForTwo =
      drawn.approvers === "anyone" &&
      places[place]?.isDirectMessage === false &&
      random.fork(`quorum/${token}`).chance(0.7);
    const edits = random.fork(`edits/${token}`);
    const isSized = drawn.approvers !== "nobody" && edits.chance(0.5);
    const proposal: Proposal = {
      ...drawn,
      ...(isForTwo && { quorum: 2 }),
      ...(isSized && { size: edits.pick(SIZES), expiresAfterMs: 400_000 }),
    };
    items.push(proposal);
    if (proposal.approvers === "nobody") continue;
    if (isForTwo) items.push(...drawAgreements(random.fork(`agreements/${token}`), token, at));
    if (isSized) items.push(...drawEdits(edits, token, at));
    for (let decisions = random.int(1, 3); decisions > 0; decisions -= 1) {
      const isLate = random.chance(0.1);
      const decision: Decision = {
        kind: "decide",
        at: at + random.int(1_500, 15_000) + (isLate ? proposal.expiresAfterMs : 0),
        proposal: token,
        token: `y${(presses += 1)}`,
        person: random.chance(0.7) ? "7" : "8",
        button: random.pick(BUTTONS),
      };
      items.push(decision);
      // Twice at once, or a moment later.
      if (random.chance(0.25))
        items.push({ ...decision, at: decision.at + random.int(0, 400), token: `y${(presses += 1)}` });
      if (random.chance(0.3)) {
        const victim = random.pick<"thread" | "machine">(["thread", "machine", "machine"]);
        const died = decision.at + random.int(30, 3_000);
        items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 500) });
      }
    }
  }
  // The second boundary is after the first effect.
  if (random.chance(0.25)) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    const boundary = random.pick([1, 2, 2, 2, 4]);
    items.push({ kind: "crash", within: "effect", boundary, victim, downMs: random.int(0, 2_000) });
  }
  return [...items, ...drawTrouble(random)];
}

/** One or two people change the input, perhaps at once, and somebody may approve meanwhile. */
function drawEdits(random: Random, proposal: string, at: number): PlanItem[] {
  const items: PlanItem[] = [];
  for (let left = random.int(1, 2); left > 0; left -= 1) {
    const person = random.pick<"7" | "8">(["7", "7", "8"]);
    const token = `z${proposal}${left}`;
    const size = random.pick(SIZES);
    items.push({ kind: "change-input", at: at + random.int(500, 9_000), proposal, token, person, size });
  }
  if (random.chance(0.5)) {
    const button = random.pick<"Approve" | "Reject">(["Approve", "Reject"]);
    const press = { kind: "decide", proposal, token: `v${proposal}`, button } as const;
    items.push({ ...press, at: at + random.int(2_000, 30_000), person: random.pick<"7" | "8">(["7", "8"]) });
  }
  return items;
}

/** Several calls of one action. People allow some of them up to a sum, and decide about the others. */
export function drawSpending(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // In private chats, where one person asks and decides.
  const [first, second = first] = places.flatMap(({ isDirectMessage }, index) =>
    isDirectMessage ? [index] : [],
  );
  if (!random.chance(WITH_SPENDING) || platform === "fixed" || first === undefined) return [];
  const items: PlanItem[] = [];
  const repeats = random.pick<Proposal["repeats"]>(["verified", "keyed"]);
  const workMs = random.pick([0, 200, 1_500]);
  for (let index = 0; index < 7; index += 1) {
    const token = `m93${index}`;
    const place = random.chance(0.4) ? (second ?? first) : first;
    const at = index * 30_000 + random.int(0, 9_000);
    items.push(
      { kind: "message", at, place, token },
      {
        kind: "proposal",
        token,
        approvers: "anyone",
        repeats,
        workMs,
        files: 0,
        spends: true,
        expiresAfterMs: 60_000,
        size: random.pick(SIZES),
      },
    );
    const allows = index < 2 || random.chance(0.2);
    const press = { kind: "decide", proposal: token, person: "7" } as const;
    if (allows) items.push({ ...press, at: at + 1_500, token: `va${token}`, button: "More" });
    if (allows || random.chance(0.5))
      items.push({
        ...press,
        at: at + random.int(4_000, 12_000),
        token: `vb${token}`,
        button: allows ? "Allow always" : random.pick<"Approve" | "Reject">(["Approve", "Reject"]),
      });
    if (random.chance(0.15)) items.push(...drawEdits(random, token, at));
    if (random.chance(0.15)) {
      const victim = random.pick<"thread" | "root" | "machine">(["thread", "root", "machine"]);
      const died = at + random.int(500, 5_000);
      items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 500) });
    }
  }
  return [...items, ...drawTrouble(random)];
}

/** Two people agree, one after the other, and one of them twice. */
function drawAgreements(random: Random, proposal: string, at: number): Decision[] {
  const first = random.pick<"7" | "8">(["7", "8"]);
  const second = random.chance(0.6) ? (first === "7" ? "8" : "7") : first;
  return [first, first, second].map((person, index) => ({
    kind: "decide",
    at: at + random.int(1_500, 4_000) + index * random.int(100, 3_000),
    proposal,
    token: `q${proposal}${index}`,
    person,
    button: "Approve",
  }));
}

function drawProposal(random: Random, token: string): Proposal {
  return {
    kind: "proposal",
    token,
    approvers: random.pick<Proposal["approvers"]>(["ada", "ada", "ada", "anyone", "nobody", "nobody"]),
    repeats: random.pick<Proposal["repeats"]>(["verified", "keyed", "never"]),
    workMs: random.pick([0, 200, 1_500]),
    expiresAfterMs: random.pick([12_000, 40_000, 1_800_000]),
    files: random.pick([0, 0, 1, 2, 3]),
  };
}
