import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say } from "../../core/text/bot-texts.ts";
import type { Address } from "../../core/chat/surface.ts";

/** A chat other than the one that asked, in which people are asked. */
export interface AskedPlace {
  readonly address: Address;
  /** The person whose private chat it is, in words. Undefined for a place that the action names. */
  readonly who: string | undefined;
}

/** Somebody who should be asked and cannot be. */
export interface Unreached {
  /** The person, or the place, in words. */
  readonly who: string;
  /** `never-wrote`: has not opened a private chat. `gone`: has blocked the bot, or the chat is gone. */
  readonly why: "never-wrote" | "gone";
}

/** Stands for a place without a name in `Unreached.who`: it could not be found, or it is gone by now. */
export const UNNAMED_PLACES = {
  chatToAsk: "The chat in which I should ask",
  askedChat: "The chat in which I asked",
} as const;

/** Says who was not reached, and what to do about it. */
export function unreachedWords(unreached: readonly Unreached[], say: Say = sayEnglish): string {
  const named = (who: string): string => {
    if (who === UNNAMED_PLACES.askedChat) return say("askedChat");
    return who === UNNAMED_PLACES.chatToAsk ? say("chatToAsk") : who;
  };
  return unreached
    .map(({ who, why }) => say(why === "never-wrote" ? "neverWrote" : "unreachable", { who: named(who) }))
    .join(" ");
}
