import type { Plan, PlannedPolicy, PlanItem, PlatformKind, RichServer } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** The footer of answers, if they have one. Its word is in no other text. */
export const FOOTER = "_footnote_";

/** Draws the options of a run's messenger. */
export function drawPolicy(random: Random, platform: PlatformKind): PlannedPolicy {
  const isRich = random.chance(0.25) && platform === "telegram";
  const server = random.pick<RichServer>([
    { kind: "knows" },
    { kind: "knows" },
    { kind: "never" },
    { kind: "until", at: random.int(500, 15_000) },
    { kind: "refuses", call: random.int(1, 6) },
  ]);
  const marked = "resend-marked";
  return {
    onUnknown: random.pick([marked, marked, marked, marked, "resend", "leave"]),
    replyTo: random.pick(["groups", "groups", "groups", "always", "never"]),
    rich: isRich ? server : undefined,
    rerunOnEdit: random.chance(0.25),
    answersPresses: random.chance(0.4),
    footer: random.chance(0.15) ? FOOTER : undefined,
    silence: random.chance(0.2),
    tools: random.chance(0.3),
    locksCards: random.chance(0.2),
  };
}

type Drawn = Pick<Plan, "places" | "platform" | "policy" | "whenBusy" | "items">;
type PlannedMessage = Extract<PlanItem, { kind: "message" }>;

/** Draws actions of people beyond writing: presses, files, deleted messages, edits of answered messages. */
export function extraItems(random: Random, { places, platform, policy, whenBusy, items }: Drawn): PlanItem[] {
  const extra: PlanItem[] = [];
  const place = (): number => random.int(0, places.length - 1);
  for (let left = random.chance(0.2) ? random.int(1, 3) : 0; left > 0; left -= 1) {
    extra.push({ kind: "press", at: random.int(200, 15_000), place: place(), token: `p${left}` });
  }
  // Steering needs messages while the model is working.
  if (whenBusy === "steer") {
    const at = random.int(1_500, 8_000);
    extra.push({ kind: "message", at, place: place(), token: "m90" });
  }
  const messages = [...items, ...extra].filter((item): item is PlannedMessage => item.kind === "message");
  const hasFiles = random.chance(0.15);
  for (const { at, token } of messages) {
    if (hasFiles && random.chance(0.6)) extra.push(file(random, token));
    // Telegram does not tell a bot about deletions.
    if (random.chance(0.1) && platform !== "telegram") {
      extra.push({ kind: "take-back", at: at + random.int(20, 4_000), token });
    }
    if (policy.rerunOnEdit && random.chance(0.5)) {
      extra.push({ kind: "edit", at: at + random.int(200, 12_000), token });
    }
  }
  if (random.chance(0.02)) {
    const fault = { kind: "flood", retryAfterS: 3_600 } as const;
    extra.push({ kind: "fault", call: random.int(1, 6), fault });
  }
  return extra;
}

function file(random: Random, token: string): PlanItem {
  const loadedAfterMs = random.pick([5, 5, 400, 12_000]);
  return { kind: "file", token, loadedAfterMs, fails: random.chance(0.4) };
}
