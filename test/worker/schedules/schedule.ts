import { createRandom } from "../../../lab/support/random.ts";
import type { Random } from "../../../lab/support/random.ts";

/**
 * What goes wrong with one call to the platform.
 *
 * - `refused`: nothing was done, and the platform says so
 * - `lost`: the connection is cut, and it was done or not
 * - `flood`: refused with a penalty
 * - `dies`: the object dies over it, before it was done or after
 */
export type ScheduledFault =
  | { readonly kind: "refused" }
  | { readonly kind: "lost"; readonly done: boolean }
  | { readonly kind: "flood"; readonly retryAfterS: number }
  | { readonly kind: "dies"; readonly done: boolean };

export type Step =
  /** A person writes; `isQuick`: in the same breath as before. */
  | { readonly kind: "write"; readonly chat: string; readonly isQuick: boolean }
  /** An update that was answered comes once more. */
  | { readonly kind: "again" }
  /** The running answers go on by one piece. */
  | { readonly kind: "speak" }
  /** Time passes. After a few seconds the alarms fire. */
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "kill"; readonly victim: "thread" | "root"; readonly chat: string }
  | { readonly kind: "fault"; readonly fault: ScheduledFault };

export interface Schedule {
  readonly seed: number;
  readonly chats: readonly [string, ...string[]];
  readonly interruptedStep: "restart" | "continue";
  readonly mode: "edit" | "draft" | "native" | "buffered" | "final-only";
  readonly steps: readonly Step[];
}

/** From so long on the alarms fire: a running turn is looked after every 2.5 seconds. */
export const ALARMS_AFTER_MS = 2_600;

export function createSchedule(seed: number): Schedule {
  const random = createRandom(`workerd/${seed}`);
  const chats: [string, ...string[]] = random.chance(0.3) ? ["11", "12"] : ["11"];
  const steps: Step[] = [{ kind: "write", chat: "11", isQuick: false }];
  // Numbers of their own, so that the steps stay as they are.
  const isStreaming = random.fork("platform").chance(0.25);
  for (let left = random.int(8, 22); left > 0; left -= 1) steps.push(stepOf(random, chats));
  const interruptedStep = random.chance(0.7) ? "restart" : "continue";
  const mode = random.pick(["edit", "edit", "edit", "draft", "buffered", "final-only"]);
  return { seed, chats, interruptedStep, mode: isStreaming ? "native" : mode, steps };
}

function stepOf(random: Random, chats: readonly [string, ...string[]]): Step {
  const chat = random.pick(chats);
  const drawn = random.next();
  if (drawn < 0.15) return { kind: "write", chat, isQuick: random.chance(0.4) };
  if (drawn < 0.2) return { kind: "again" };
  if (drawn < 0.5) return { kind: "speak" };
  if (drawn < 0.7) return { kind: "pass", ms: random.pick([300, 1_200, 3_000, 5_000]) };
  if (drawn < 0.85) return { kind: "kill", victim: random.chance(0.75) ? "thread" : "root", chat };
  return { kind: "fault", fault: faultOf(random) };
}

function faultOf(random: Random): ScheduledFault {
  return random.pick<ScheduledFault>([
    { kind: "refused" },
    { kind: "lost", done: true },
    { kind: "lost", done: false },
    { kind: "flood", retryAfterS: 3 },
    { kind: "dies", done: true },
    { kind: "dies", done: false },
  ]);
}
