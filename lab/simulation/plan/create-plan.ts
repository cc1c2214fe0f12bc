import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { createAskingPlan } from "./asking-plan.ts";
import { createCrowdPlan } from "./crowd-plan.ts";
import { drawAlbums } from "./draw-albums.ts";
import { drawChildren } from "./draw-children.ts";
import { drawCode } from "./draw-code.ts";
import { drawExtensions } from "./draw-extensions.ts";
import { drawApprovals, drawSpending } from "./draw-approvals.ts";
import { drawQuestions } from "./draw-questions.ts";
import { drawTyping } from "./draw-typing.ts";
import { drawCards } from "./draw-cards.ts";
import { drawNumbers } from "./draw-numbers.ts";
import { drawPolicy, extraItems } from "./draw-policy.ts";
import { drawQuotes, drawSchedules } from "./draw-schedules.ts";
import { gateTrouble } from "./gate-trouble.ts";
import type { CallFault, Place, Plan, PlanItem, PlatformKind, SearchKind, Victim } from "./plan.ts";
import { createRandom } from "../../support/random.ts";
import type { Random } from "../../support/random.ts";
import { routePlaces } from "./route-places.ts";

const POOL: readonly [Place, ...Place[]] = [
  direct("11"),
  direct("12"),
  { threadId: "sim:-30", chatId: "-30", isDirectMessage: false, box: "own" },
  topic("5"),
  topic("6"),
  // The topic "General", which is the forum's thread without a topic.
  { threadId: "sim:-1007", chatId: "-1007", isDirectMessage: false, box: "-1007" },
];

function direct(chatId: string): Place {
  return { threadId: `sim:${chatId}`, chatId, isDirectMessage: true, box: "own" };
}

function topic(topicId: string): Place {
  return { threadId: `sim:-1007:${topicId}`, chatId: "-1007", topicId, isDirectMessage: false, box: "-1007" };
}

/** The share of plans in which many chats get the same text. Each takes as long as twenty others. */
const CROWDED = 0.01;

/** The share of plans in which people are asked in several chats. */
const ASKING = 0.05;

export function createPlan(seed: number): Plan {
  const random = createRandom(`plan/${seed}`);
  const crowd = random.fork("crowd");
  if (crowd.chance(CROWDED)) return createCrowdPlan(seed, crowd);
  const asking = random.fork("asked");
  if (asking.chance(ASKING)) return createAskingPlan(seed, asking);
  const chosen = choosePlaces(random);
  const items: PlanItem[] = [...people(random, chosen), ...trouble(random, chosen)];
  const interruptedStep = random.chance(0.75) ? "restart" : "continue";
  // A separate generator, so that additions here do not change the values drawn above.
  const manner = random.fork("manner");
  const platform = manner.pick<PlatformKind>([...LIKELY_PLATFORMS]);
  const modes = chosen.map(({ isDirectMessage }) =>
    platform === "telegram" && isDirectMessage ? manner.pick(DIRECT_MODES) : manner.pick(MODES[platform]),
  );
  const controls = control(manner, chosen);
  const isInterrupting = manner.chance(0.15);
  const policy = drawPolicy(random.fork("policy"), platform);
  const extra = random.fork("extra");
  const whenBusy = isInterrupting ? "interrupt" : policy.tools && extra.chance(0.5) ? "steer" : "queue";
  const more = extraItems(extra, { places: chosen, platform, policy, whenBusy, items });
  const { places, routing, objects, visits } = routePlaces(random.fork("routing"), chosen, POOL);
  const cards = drawCards(random.fork("cards"), places, platform);
  const schedules = drawSchedules(random.fork("schedules"), places);
  return {
    seed,
    places,
    routing,
    objects,
    items: [
      ...items,
      ...controls,
      ...more,
      ...visits,
      ...prompts(random.fork("prompts"), chosen),
      ...cards,
      ...drawNumbers(random.fork("numbers"), places, cards),
      ...drawAlbums(random.fork("albums"), places, platform),
      ...gateTrouble(random.fork("gates"), places, objects),
      ...schedules,
      ...drawQuotes(random.fork("quotes"), schedules),
      ...drawApprovals(random.fork("approvals"), places, platform),
      ...drawQuestions(random.fork("questions"), places, platform),
      ...drawSpending(random.fork("spending"), places, platform),
      ...drawTyping(random.fork("typing"), places),
      ...drawCode(random.fork("code"), places, platform),
      ...drawChildren(random.fork("children"), places, platform),
      ...drawExtensions(random.fork("extensions"), places, platform),
    ],
    interruptedStep,
    platform,
    search: platform === "telegram" ? "none" : random.fork("search").pick(SEARCHES),
    whenBusy,
    modes: objects.map((name) => modes[objects.indexOf(name)] ?? modes[0] ?? "edit"),
    policy,
  };
}

const SEARCHES: readonly [SearchKind, ...SearchKind[]] = ["none", "none", "keys", "lists", "repeats"];

const LIKELY_PLATFORMS: readonly [PlatformKind, ...PlatformKind[]] = [
  "telegram",
  "telegram",
  "telegram",
  "telegram",
  "telegram",
  "telegram",
  "streams",
  "streams",
  "fixed",
];

const MODES: Readonly<Record<PlatformKind, readonly [DeliveryMode, ...DeliveryMode[]]>> = {
  // A draft in a group is an edit.
  telegram: ["edit", "edit", "edit", "edit", "draft", "buffered", "final-only"],
  streams: ["native", "native", "native", "edit", "buffered"],
  fixed: ["edit", "buffered", "final-only"],
};

const DIRECT_MODES: readonly [DeliveryMode, ...DeliveryMode[]] = [
  "edit",
  "edit",
  "edit",
  "draft",
  "draft",
  "draft",
  "draft",
  "buffered",
  "final-only",
];

/** Returns actions of people on a reply, while it is being written or later. */
function control(random: Random, places: readonly Place[]): PlanItem[] {
  const items: PlanItem[] = [];
  const place = (): number => random.int(0, places.length - 1);
  const at = (): number => random.int(200, 12_000);
  if (random.chance(0.15)) items.push({ kind: "stop-button", at: at(), place: place() });
  for (let left = random.chance(0.12) ? random.int(1, 2) : 0; left > 0; left -= 1) {
    items.push({ kind: "delete", at: at(), place: place(), back: random.pick([0, 0, 1, 2]) });
  }
  if (random.chance(0.03)) {
    // The root dies while it knows a penalty.
    const fault: CallFault = { kind: "flood", retryAfterS: random.pick([8, 40]) };
    items.push({ kind: "fault", call: random.int(1, 5), fault });
    items.push({ kind: "crash-at", at: random.int(1_000, 9_000), victim: "root", place: 0, downMs: 100 });
  }
  return items;
}

/** Returns prompts of the bot's own code, among the messages of people. */
function prompts(random: Random, places: readonly Place[]): PlanItem[] {
  const count = random.chance(0.3) ? random.int(1, 3) : 0;
  return Array.from({ length: count }, (_, index) => ({
    kind: "prompt",
    at: random.int(0, 15_000),
    place: random.int(0, places.length - 1),
    token: `q${index}`,
    again: random.chance(0.3),
  }));
}

/** One or two places, which often share their chat, so that they share its budget. */
function choosePlaces(random: Random): readonly Place[] {
  const [, , , topicA, topicB, general] = POOL;
  if (topicA !== undefined && topicB !== undefined && general !== undefined && random.chance(0.35)) {
    return random.pick([
      [topicA, topicB],
      [topicA, general],
      [topicA, topicB, general],
    ]);
  }
  const first = random.pick(POOL);
  if (random.chance(0.6)) return [first];
  const second = random.pick(POOL);
  return second === first ? [first] : [first, second];
}

function people(random: Random, places: readonly Place[]): PlanItem[] {
  const items: PlanItem[] = [];
  const messages = random.int(1, 4);
  let at = random.int(0, 500);
  for (let index = 0; index < messages; index += 1) {
    const place = random.int(0, places.length - 1);
    items.push({ kind: "message", at, place, token: `m${index}` });
    if (random.chance(0.15)) items.push({ kind: "edit", at: at + random.int(50, 4_000), token: `m${index}` });
    at += random.chance(0.4) ? random.int(0, 1_500) : random.int(500, 15_000);
  }
  const commands = random.chance(0.3) ? random.int(1, 2) : 0;
  for (let index = 0; index < commands; index += 1) {
    const name = random.pick<"stop" | "help" | "new">(["stop", "stop", "help", "new"]);
    const place = random.int(0, places.length - 1);
    items.push({ kind: "command", at: random.int(0, at + 2_000), place, token: `c${index}`, name });
  }
  if (random.chance(0.4)) {
    const place = random.int(0, places.length - 1);
    items.push({ kind: "noise", at: random.int(0, at), place, count: random.int(1, 5) });
  }
  if (random.chance(0.06)) {
    const place = random.int(0, places.length - 1);
    items.push({ kind: "block", at: random.int(0, at), forMs: random.int(500, 20_000), place, token: "b0" });
  }
  return items;
}

function trouble(random: Random, places: readonly Place[]): PlanItem[] {
  const items: PlanItem[] = [];
  const victim = (): Victim => random.pick(["thread", "machine", "machine", "root", "gate"]);
  for (let left = random.chance(0.75) ? random.int(1, 3) : 0; left > 0; left -= 1) {
    const downMs = random.int(0, 4_000);
    if (random.chance(0.8)) {
      items.push({ kind: "crash", boundary: random.int(1, 110), victim: victim(), downMs });
    } else {
      const place = random.int(0, places.length - 1);
      items.push({ kind: "crash-at", at: random.int(0, 20_000), victim: victim(), place, downMs });
    }
  }
  for (let left = random.chance(0.75) ? random.int(1, 3) : 0; left > 0; left -= 1) {
    items.push({ kind: "fault", call: random.int(1, 25), fault: callFault(random) });
  }
  if (random.chance(0.08)) {
    const at = random.int(0, 10_000);
    const share = random.pick([0.3, 0.7, 1]);
    items.push({ kind: "storm", at, forMs: random.int(500, 8_000), share, fault: stormFault(random) });
  }
  for (let left = random.chance(0.4) ? random.int(1, 2) : 0; left > 0; left -= 1) {
    const how = random.pick<"answer-lost" | "twice" | "renumbered">(["answer-lost", "twice", "renumbered"]);
    items.push({ kind: "again", update: random.int(1, 6), how });
  }
  return items;
}

function callFault(random: Random): CallFault {
  const kinds: readonly [CallFault, ...CallFault[]] = [
    { kind: "refused" },
    { kind: "gateway", done: random.chance(0.5) },
    { kind: "cut-before" },
    { kind: "cut-after" },
    { kind: "cut-after" },
    { kind: "late", doneAfterMs: random.int(100, 14_000) },
    { kind: "hang", done: random.chance(0.5) },
    { kind: "slow", answeredAfterMs: random.int(500, 25_000) },
    { kind: "slow-done", doneAfterMs: random.int(500, 14_500) },
    { kind: "flood", retryAfterS: random.pick([1, 3, 8, 40]) },
    { kind: "flood", retryAfterS: random.pick([2, 5]) },
    { kind: "bad-entities" },
    { kind: "unauthorized" },
  ];
  return random.pick(kinds);
}

function stormFault(random: Random): CallFault {
  return random.pick<CallFault>([
    { kind: "refused" },
    { kind: "flood", retryAfterS: 5 },
    { kind: "cut-before" },
    { kind: "gateway", done: false },
  ]);
}
