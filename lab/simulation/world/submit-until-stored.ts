import type { Place } from "../plan/plan.ts";
import type { Random } from "../../support/random.ts";
import { addressIn } from "./world.ts";
import type { World } from "./world.ts";

/**
 * Submits a prompt again and again until it is durable. Its key makes it one prompt.
 *
 * @param isTwice whether it is submitted once more when it is durable
 */
export function submitUntilStored(
  world: World,
  random: Random,
  prompt: { readonly place: Place; readonly token: string },
  isTwice: boolean,
): void {
  const { isDown, oracle, scheduler, trace } = world;
  const { place, token } = prompt;
  const { threadId } = place;
  const retry = (delayMs: number, more: boolean): void => {
    scheduler.after(delayMs, () => submitUntilStored(world, random, prompt, more));
  };
  trace.add("bot", () => `submits ${token} for ${threadId}${isDown ? ": nobody listens" : ""}`);
  oracle.inbox.arrives(token, threadId, undefined);
  if (isDown) {
    retry(500, isTwice);
    return;
  }
  let isSettled = false;
  const settle = (isStored: boolean): void => {
    if (isSettled) return;
    isSettled = true;
    if (!isStored) retry(random.int(50, 800), isTwice);
    else {
      oracle.inbox.stored(token);
      if (isTwice) retry(random.int(50, 9_000), false);
    }
  };
  const request = {
    kind: "prompt" as const,
    idempotencyKey: token,
    messages: [{ id: token, role: "user" as const, parts: [{ type: "text" as const, text: token }] }],
    answerTo: [addressIn(place)],
  };
  world
    .thread(place)
    .submit(request)
    .then(
      () => settle(true),
      () => settle(false),
    );
  // Its process may have died during the call.
  scheduler.after(3_000, () => settle(false));
}
