import { EXTENSION_HOOKS } from "../../../src/extensions/extension-config.ts";
import type { Random } from "../../support/random.ts";
import type { ExtensionItem, HookManner } from "./extension-items.ts";
import type { Place, PlanItem, PlatformKind } from "./plan.ts";

/** The share of plans with extensions. */
const WITH_EXTENSIONS = 0.08;
/** The share of those whose code runs in the product's own sandbox. */
const WITH_QUICKJS = 0.12;

const MANNERS: readonly [HookManner, ...HookManner[]] = ["works", "copies", "copies", "throws", "hangs"];

type Decision = Extract<PlanItem, { kind: "decide" }>;

/** Messages whose answers call tools of extensions, people who decide about these calls, and trouble. */
export function drawExtensions(random: Random, places: readonly Place[], platform: PlatformKind): PlanItem[] {
  // A platform whose messages cannot be changed shows a new card for each state.
  if (!random.chance(WITH_EXTENSIONS) || platform === "fixed") return [];
  const items: PlanItem[] = [];
  const sandbox = random.chance(WITH_QUICKJS) ? "quickjs" : "plain";
  const place = random.int(0, places.length - 1);
  let presses = 0;
  for (let left = random.int(1, 3); left > 0; left -= 1) {
    const token = `m1${left}`;
    const at = random.int(0, 6_000);
    const approvers = random.pick(["ada", "anyone", "anyone", "nobody"] as const);
    const expiresAfterMs = random.pick([15_000, 60_000, 1_800_000]);
    items.push({ kind: "message", at, place, token });
    items.push({
      kind: "proposal",
      token,
      approvers,
      // Its changes are recorded before they are made, so their end is always known.
      repeats: "verified",
      workMs: 0,
      expiresAfterMs,
      files: 0,
    });
    items.push({ kind: "extension", token, hooks: drawHooks(random, sandbox), sandbox });
    for (let decisions = approvers === "nobody" ? 0 : random.int(1, 3); decisions > 0; decisions -= 1) {
      const decision: Decision = {
        kind: "decide",
        at: at + random.int(1_500, 10_000) + (random.chance(0.1) ? expiresAfterMs : 0),
        proposal: token,
        token: `w${(presses += 1)}`,
        person: random.chance(0.75) ? "7" : "8",
        button: random.pick(["Approve", "Approve", "Approve", "Reject"]),
      };
      items.push(decision);
      // Twice at once, or a moment later.
      if (random.chance(0.25))
        items.push({ ...decision, at: decision.at + random.int(0, 400), token: `w${(presses += 1)}` });
      if (random.chance(0.3)) {
        const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
        const died = decision.at + random.int(10, 1_500);
        items.push({ kind: "crash-at", at: died, victim, place, downMs: random.int(0, 500) });
      }
    }
    if (random.chance(0.2)) {
      const when = at + random.int(500, 8_000);
      items.push({ kind: "command", at: when, place, token: `k1${left}`, name: "stop" });
    }
  }
  for (let left = random.int(0, 2); left > 0; left -= 1) {
    const victim = random.pick<"thread" | "machine">(["thread", "machine"]);
    const boundary = random.int(1, 12);
    items.push({ kind: "crash", within: "effect", boundary, victim, downMs: random.int(0, 1_000) });
  }
  return items;
}

function drawHooks(random: Random, sandbox: ExtensionItem["sandbox"]): ExtensionItem["hooks"] {
  const chosen = EXTENSION_HOOKS.filter(() => random.chance(0.4));
  return Object.fromEntries(
    chosen.map((hook) => {
      const loops = sandbox === "quickjs" && random.chance(0.3);
      return [hook, loops ? "loops" : random.pick(MANNERS)] as const;
    }),
  );
}
