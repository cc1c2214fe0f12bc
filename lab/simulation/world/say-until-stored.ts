import type { Content } from "../../../src/core/message/content.ts";
import type { Random } from "../../support/random.ts";
import type { Place } from "../plan/plan.ts";
import { addressIn } from "./world.ts";
import type { World } from "./world.ts";

export interface ToSay {
  /** The place whose conversation speaks. */
  readonly speaker: Place;
  readonly place: Place;
  /** Name of the content, which makes it one message however often it is said. */
  readonly token: string;
  readonly content: () => Content;
}

/** The bot's own code says something, again until it hears that this is durable. */
export function sayUntilStored(world: World, random: Random, said: ToSay): void {
  const { content, place, speaker, token } = said;
  const { scheduler, trace } = world;
  trace.add("bot", () => `posts ${token} from ${speaker.threadId} to ${place.threadId}`);
  let isSettled = false;
  const settle = (isStored: boolean): void => {
    if (isSettled) return;
    isSettled = true;
    if (!isStored) scheduler.after(random.int(50, 800), () => sayUntilStored(world, random, said));
  };
  if (world.isDown) return settle(false);
  world
    .thread(speaker)
    .say(content(), addressIn(place), token)
    .then(
      () => settle(true),
      () => settle(false),
    );
  scheduler.after(3_000, () => settle(false));
}

/** The conversation of a place posts a text of a broadcast there. */
export function tell(world: World, random: Random, token: string, place: Place): void {
  sayUntilStored(world, random, {
    speaker: place,
    place,
    token,
    content: () => `The ${token} for everyone.`,
  });
}
