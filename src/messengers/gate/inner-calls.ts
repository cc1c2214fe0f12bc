import type { BotBudget, ChatGate } from "../../core/gate.ts";
import { SwitchboardError } from "../../core/errors.ts";

/** What objects of one bot ask each other, beside events: conversations their chat's gate, and gates the root. */
export interface InnerCalls extends ChatGate, BotBudget {}

/** The one method over which these calls travel. */
export interface InnerDoor {
  inner(method: string, args: readonly unknown[]): Promise<unknown>;
}

const METHODS = [
  "acquire",
  "penalize",
  "report",
  "unclaimed",
  "noteCard",
  "findCard",
  "claimMessage",
  "lend",
  "tellSent",
  "seenIds",
] as const satisfies readonly (keyof InnerCalls)[];

/** The calls to another object, over its door. */
export function callsOver(door: () => InnerDoor): InnerCalls {
  const calls = METHODS.map(
    (method) => [method, (...args: unknown[]) => door().inner(method, args)] as const,
  );
  return Object.fromEntries(calls) as unknown as InnerCalls;
}

/**
 * Answers a call that came over the door.
 *
 * @throws {SwitchboardError} `inner-call-unknown` when the caller runs another version of the bot
 */
export async function answerInner(
  calls: InnerCalls,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  const known = METHODS.find((name) => name === method);
  if (known === undefined) {
    throw new SwitchboardError("inner-call-unknown", `This version knows no inner call named "${method}".`);
  }
  const call = calls[known].bind(calls) as (...args: readonly unknown[]) => Promise<unknown>;
  return call(...args);
}
