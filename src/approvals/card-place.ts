import type { Address } from "../core/surface.ts";

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

/** Says who was not reached, and what to do about it. */
export function unreachedWords(unreached: readonly Unreached[]): string {
  return unreached
    .map(({ who, why }) =>
      why === "never-wrote"
        ? `${who} has never written to me. Ask them to open a private chat with me and press Start.`
        : `I can't write to ${who} any more. Ask them to unblock me, or to add me again.`,
    )
    .join(" ");
}
